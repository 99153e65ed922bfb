/** The result of the work, or the error of `late` after `ms` milliseconds. The work itself continues. */
export function within<Result>(ms: number, work: Promise<Result>, late: () => unknown): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    const stop = () => clearTimeout(timer);
    work.then(resolve, reject);
    // Not chained to the line above, so that the caller gets the result first.
    work.then(stop, stop);
  });
}

export type WaitQueue<T> = ReturnType<typeof createWaitQueue<T>>;

/** A first-in, first-out queue. Each caller gets a value, or after `waitMs` the error that `late` makes. */
export function createWaitQueue<T>(waitMs: number, late: () => unknown) {
  // A Set keeps insertion order, and removing a caller that timed out is cheap.
  const waiting = new Set<PromiseWithResolvers<T>>();

  function takeOldest(): PromiseWithResolvers<T> | undefined {
    const [oldest] = waiting;
    if (oldest !== undefined) waiting.delete(oldest);
    return oldest;
  }

  return {
    get length(): number {
      return waiting.size;
    },

    /** Resolves with the value that `give` passes to this caller, or rejects after `waitMs`. */
    wait(): Promise<T> {
      const caller = Promise.withResolvers<T>();
      waiting.add(caller);
      return within(waitMs, caller.promise, () => {
        waiting.delete(caller);
        return late();
      });
    },

    /** Passes a value to the caller that has waited longest. Returns false if nobody waits. */
    give(value: T): boolean {
      const oldest = takeOldest();
      oldest?.resolve(value);
      return oldest !== undefined;
    },

    /** Fails the caller that has waited longest, for example because no value can be made for it. */
    fail(error: unknown): void {
      takeOldest()?.reject(error);
    },
  };
}
