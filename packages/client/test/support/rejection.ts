/** What a call rejects with. */
export async function rejectionOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('It did not reject.');
}
