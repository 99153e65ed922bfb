/** Errors that hooks threw. They are not retried, even if a hook throws an error of this package. */
const thrown = new WeakSet<Error>();

export async function callHook<Event>(
  hook: ((event: Event) => void | Promise<void>) | undefined,
  event: Event,
): Promise<void> {
  try {
    await hook?.(event);
  } catch (error) {
    if (error instanceof Error) thrown.add(error);
    throw error;
  }
}

export function isFromHook(error: unknown): boolean {
  return error instanceof Error && thrown.has(error);
}
