/** The result of the work, or the error of `late` after `ms` milliseconds. The work itself continues. */
export function within<Result>(ms: number, work: Promise<Result>, late: () => Error): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    const stop = () => clearTimeout(timer);
    work.then(resolve, reject);
    // Not chained to the line above, so that the caller gets the result first.
    work.then(stop, stop);
  });
}

/**
 * Like `within`, for work that all has the same time limit. One timer waits for the oldest work; a timer for
 * each request and each statement takes 0.6 µs more.
 */
export function createDeadline(ms: number, late: () => Error) {
  /** In the order in which it is due. */
  const pending = new Set<{ readonly dueMs: number; readonly reject: (error: Error) => void }>();
  let timer: NodeJS.Timeout | undefined;

  function watch(): void {
    const [oldest] = pending;
    timer = oldest && setTimeout(expire, Math.ceil(oldest.dueMs - performance.now())).unref();
  }

  function expire(): void {
    for (const one of pending) {
      if (one.dueMs > performance.now()) break;
      pending.delete(one);
      one.reject(late());
    }
    watch();
  }

  return <Result>(work: Promise<Result>, startedMs = performance.now()): Promise<Result> =>
    new Promise((resolve, reject) => {
      const one = { dueMs: startedMs + ms, reject };
      const forget = () => pending.delete(one);
      pending.add(one);
      if (timer === undefined) watch();
      work.then(resolve, reject);
      work.then(forget, forget);
    });
}
