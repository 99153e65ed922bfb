import { setTimeout as wait } from 'node:timers/promises';

/**
 * Resolves when the process was told to stop and has stopped serving. SIGTERM comes from a supervisor: go on for
 * the drain delay, so that balancers notice. SIGINT comes from a person: stop at once. A second signal ends all.
 */
export async function untilStopped(
  drainDelaySeconds: number,
  drain: () => void,
  close: () => Promise<void>,
): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGTERM', resolve).once('SIGINT', resolve);
  });
  process.once('SIGTERM', () => process.exit(0)).once('SIGINT', () => process.exit(0));
  drain();
  if (signal === 'SIGTERM') await wait(drainDelaySeconds * 1_000);
  await close();
}
