import { setTimeout as wait } from 'node:timers/promises';
import { onStop } from '@partner-network/common/signals';
import type { Logger } from 'pino';

interface Draining {
  drain(): void;
  /** The number of unanswered requests, if it is known at once. */
  unanswered?(): number;
}

/**
 * Drains after the signal, and resolves to the time of the signal when the service may close. SIGTERM comes
 * from a supervisor: wait for the drain delay, so that balancers notice. SIGINT comes from a person: close at
 * once. A second signal ends the process.
 */
export async function drainOn(
  signal: Promise<NodeJS.Signals>,
  drainDelaySeconds: number,
  service: Draining,
  log: Logger,
): Promise<number> {
  const name = await signal;
  const signalMs = performance.now();
  onStop((second) => {
    const lost = 'unanswered requests and unwritten receipts are lost';
    log.warn({ signal: second, requests: service.unanswered?.() }, `ended by a second signal: ${lost}`);
    process.exit(0);
  });
  service.drain();
  const delaySeconds = name === 'SIGTERM' ? drainDelaySeconds : 0;
  log.info({ signal: name, drain_delay_seconds: delaySeconds }, 'draining');
  await wait(delaySeconds * 1_000);
  return signalMs;
}
