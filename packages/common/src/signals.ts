import { constants } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';

const stops = ['SIGINT', 'SIGTERM'] as const;

/** Calls the listener at the first stop signal; a second one ends the process. Returns a remove function. */
export function onStop(listener: (signal: NodeJS.Signals) => void): () => void {
  const remove = () => {
    for (const name of stops) process.off(name, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    remove();
    listener(signal);
  };
  for (const name of stops) process.on(name, onSignal);
  return remove;
}

/** Does the work at a stop signal, and then lets the signal end the process. */
export function onInterrupt(work: () => void): () => void {
  return onStop((signal) => {
    work();
    endBy(signal);
  });
}

/** Ends the process as the signal would have done. */
export function endBy(signal: NodeJS.Signals): never {
  process.kill(process.pid, signal);
  // Process 1 is not ended by a signal, so it gets the status that a shell would show.
  process.exit(128 + constants.signals[signal]);
}

/** The first stop signal after `listen`. A signal before that ends the process. */
export function createStopSignal() {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const listen = async () => {
    // Process 1 is not ended by the system. It gets an earlier signal in the next turn of the event loop.
    await nextTurn();
    onStop(resolve);
  };
  return { listen, signal: promise };
}
