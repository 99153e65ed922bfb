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
