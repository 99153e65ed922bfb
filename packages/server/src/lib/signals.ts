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

/** The last line of the log, when all is closed. */
export function logStopped(toldMs: number, log: Logger): void {
  log.info({ duration_ms: Math.round(performance.now() - toldMs) }, 'stopped');
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

interface Draining {
  drain(): void;
  /** How many requests are under way, where it can be told at once. */
  unanswered?(): number;
}

/**
 * Resolves when it is time to close, to when the signal came. SIGTERM comes from a supervisor: go on for the
 * drain delay, so that balancers notice. SIGINT comes from a person: close at once. A second signal ends all.
 */
export async function drainOn(
  signal: Promise<NodeJS.Signals>,
  drainDelaySeconds: number,
  service: Draining,
  log: Logger,
): Promise<number> {
  const name = await signal;
  const toldMs = performance.now();
  onStop((second) => {
    const lost = 'requests under way and receipts of the last moment are lost';
    log.warn({ signal: second, requests: service.unanswered?.() }, `ended by a second signal: ${lost}`);
    process.exit(0);
  });
  service.drain();
  const delaySeconds = name === 'SIGTERM' ? drainDelaySeconds : 0;
  log.info({ signal: name, drain_delay_seconds: delaySeconds }, 'draining');
  await wait(delaySeconds * 1_000);
  return toldMs;
}
