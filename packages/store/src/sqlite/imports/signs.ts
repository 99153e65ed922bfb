/** What the thread that writes an import and the thread that began it tell each other at once. */
const [commitSign, waitSign] = [0, 1];

/** Whether a commit can still be prevented, has begun, or was prevented. */
const [open, begun, prevented] = [0, 1, 2];

export type Signs = ReturnType<typeof createSigns>;

export function createSigns(shared = new Int32Array(new SharedArrayBuffer(8))) {
  return {
    shared,
    /** Begins the commit. Returns false if it was prevented. */
    beginCommit: () => Atomics.compareExchange(shared, commitSign, open, begun) === open,
    /** Called by the thread that handles signals, once it knows the result. */
    endCommit: () => Atomics.compareExchange(shared, commitSign, begun, open),
    /** Prevents the commit. Returns false if it has begun. */
    prevent: () => Atomics.compareExchange(shared, commitSign, open, prevented) !== begun,
    isPrevented: () => Atomics.load(shared, commitSign) === prevented,
    setWaiting: (isWaiting: boolean) => Atomics.store(shared, waitSign, Number(isWaiting)),
    isWaiting: () => Atomics.load(shared, waitSign) === 1,
  };
}
