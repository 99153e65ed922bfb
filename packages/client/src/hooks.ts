/** What hooks threw. It may be an error of another call, one that this call would try again after. */
const thrown = new WeakSet<Error>();

export async function tell<Event>(
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

export function isOfHook(error: unknown): boolean {
  return error instanceof Error && thrown.has(error);
}
