import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';

const stops = ['SIGINT', 'SIGTERM'] as const;

/**
 * Calls back once when somebody wants the process to end, which it then has to do by itself; a second signal
 * ends it at once. Returns what takes that back.
 */
export function onStop(listener: (signal: NodeJS.Signals) => void): () => void {
  const ignore = () => {
    for (const name of stops) process.off(name, hear);
  };
  const hear = (signal: NodeJS.Signals) => {
    ignore();
    listener(signal);
  };
  for (const name of stops) process.on(name, hear);
  return ignore;
}

/** Says a last word before a signal ends the process as it would have without us. */
export function onInterrupt(lastWord: () => void): () => void {
  return onStop((signal) => {
    lastWord();
    process.kill(process.pid, signal);
  });
}

/**
 * Resolves when the process is told to stop. To be called before anybody is told that the service is there: a
 * signal that comes without a listener kills.
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    onStop(resolve);
  });
}

/**
 * Resolves when it is time to close. SIGTERM comes from a supervisor: go on for the drain delay, so that
 * balancers notice. SIGINT comes from a person: close at once. A second signal ends all.
 */
export async function drainOn(
  signal: Promise<NodeJS.Signals>,
  drainDelaySeconds: number,
  drain: () => void,
  log: Logger,
): Promise<void> {
  const name = await signal;
  onStop(() => process.exit(0));
  drain();
  const delaySeconds = name === 'SIGTERM' ? drainDelaySeconds : 0;
  log.info({ signal: name, drain_delay_seconds: delaySeconds }, 'draining');
  await wait(delaySeconds * 1_000);
}
