/** What each signal ends. One listener serves them all: Node warns of a leak from the eleventh on. */
const endedBy = new WeakMap<AbortSignal, Set<() => void>>();

function endAll({ target }: Event): void {
  for (const end of endedBy.get(target as AbortSignal) ?? []) end();
}

/** Returns what takes it back. */
function onAbort(signal: AbortSignal, end: () => void): () => void {
  const ends = endedBy.get(signal) ?? new Set();
  endedBy.set(signal, ends.add(end));
  // One that is there already is not added again.
  signal.addEventListener('abort', endAll);
  return () => {
    ends.delete(end);
    if (ends.size === 0) signal.removeEventListener('abort', endAll);
  };
}

/**
 * A promise that the signal rejects at once with its reason, whatever is under way. What `start` returns is
 * called once it is over, however it ends, so that no timer and no listener stays behind.
 */
export function abortable<T>(
  signal: AbortSignal | undefined,
  start: (done: (value: T) => void, fail: (reason: unknown) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    let isOver = false;
    let clean: (() => void) | undefined;
    const end = () => {
      isOver = true;
      forget?.();
      clean?.();
    };
    const fail = (reason: unknown) => {
      reject(reason);
      end();
    };
    const forget = signal && onAbort(signal, () => fail(signal.reason));
    clean = start((value) => {
      resolve(value);
      end();
    }, fail);
    if (isOver) clean();
  });
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return abortable(signal, (done) => {
    const timer = setTimeout(done, ms);
    return () => clearTimeout(timer);
  });
}
