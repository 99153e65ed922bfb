/** This process: its version, its name, its limit of open files, and the signals that stop it. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The version in our package.json. */
export function ownVersion(): string {
  const manifest = new URL('../../partner-network/package.json', import.meta.url);
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}

const variable = 'PARTNER_NETWORK_INSTANCE';

/** A random name, which workers inherit. Containers may have the same host name and process id. */
export function instanceName(): string {
  process.env[variable] ||= randomBytes(6).toString('hex');
  return process.env[variable];
}

/** The number of files that this process may open. Known on Linux only: elsewhere, reading it takes 27 ms. */
export function openFileLimit(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return limit === undefined ? undefined : Number(limit);
}

/** The number of connections that fit into a share of the open files: at most `most`. */
export function connectionsWithin(most: number, share: number, openFiles = openFileLimit()): number {
  return Math.min(most, Math.floor((openFiles ?? Number.POSITIVE_INFINITY) * share));
}

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
