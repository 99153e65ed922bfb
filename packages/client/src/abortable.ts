/** The callbacks of each signal. All share one listener, because Node warns of a leak at the eleventh. */
const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>();

function callAll({ target }: Event): void {
  for (const callback of callbacksOf.get(target as AbortSignal) ?? []) callback();
}

/** Calls back when the signal aborts. Returns a function that removes the callback. */
function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = callbacksOf.get(signal) ?? new Set();
  callbacksOf.set(signal, callbacks.add(callback));
  // Adding the same listener twice has no effect.
  signal.addEventListener('abort', callAll);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0) signal.removeEventListener('abort', callAll);
  };
}

/**
 * A promise that rejects with the signal's reason as soon as the signal aborts. `start` begins the work and
 * returns its cleanup, which runs once however the work ends, so that no timer or listener stays behind.
 */
export function abortable<T>(
  signal: AbortSignal | undefined,
  start: (done: (value: T) => void, fail: (reason: unknown) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    let isOver = false;
    let cleanUp: (() => void) | undefined;
    const end = () => {
      isOver = true;
      removeCallback?.();
      cleanUp?.();
    };
    const fail = (reason: unknown) => {
      reject(reason);
      end();
    };
    const removeCallback = signal && onAbort(signal, () => fail(signal.reason));
    cleanUp = start((value) => {
      resolve(value);
      end();
    }, fail);
    if (isOver) cleanUp();
  });
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return abortable(signal, (done) => {
    const timer = setTimeout(done, ms);
    return () => clearTimeout(timer);
  });
}
