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
      signal?.removeEventListener('abort', abort);
      clean?.();
    };
    const fail = (reason: unknown) => {
      reject(reason);
      end();
    };
    const abort = () => fail(signal?.reason);
    signal?.addEventListener('abort', abort);
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
