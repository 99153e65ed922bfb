/** What the work comes to, or this error when it takes longer; then nobody hears of the work any more. */
export function within<Result>(ms: number, work: Promise<Result>, late: () => Error): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    const settle = () => clearTimeout(timer);
    work.then(resolve, reject);
    // Not chained to the line above: the caller hears first.
    work.then(settle, settle);
  });
}
