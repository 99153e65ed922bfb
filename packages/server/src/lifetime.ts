import { setTimeout as wait } from 'node:timers/promises';

/**
 * Resolves when the process is told to stop. To be called before anybody is told that the service is there: a
 * signal that comes without a listener kills.
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve).once('SIGINT', resolve);
  });
}

/**
 * SIGTERM comes from a supervisor: go on for the drain delay, so that balancers notice. SIGINT comes from a
 * person: stop at once. A second signal ends all.
 */
export async function stopOn(
  signal: Promise<NodeJS.Signals>,
  drainDelaySeconds: number,
  drain: () => void,
  close: () => Promise<void>,
): Promise<void> {
  const name = await signal;
  process.once('SIGTERM', () => process.exit(0)).once('SIGINT', () => process.exit(0));
  drain();
  if (name === 'SIGTERM') await wait(drainDelaySeconds * 1_000);
  await close();
}
