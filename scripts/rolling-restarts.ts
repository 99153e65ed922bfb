/** Restarts two instances behind HAProxy in turn by SIGTERM while callers send requests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillFixture } from '../packages/testkit/fixtures/fixture.ts';
import type { Lifetime } from '../packages/testkit/fixtures/lifetime.ts';
import { commandLine } from '../packages/testkit/fixtures/run.ts';
import { startHaproxy } from '../packages/testkit/servers/haproxy.ts';
import { createInstance } from '../packages/testkit/servers/instance.ts';
import { callForBrands, startCallers, type Totals } from './callers.ts';

export interface Rolling {
  readonly restarts: number;
  readonly drainDelaySeconds: number;
  readonly callers: number;
  readonly perSecond: number;
  /** Whether the balancer retries a request that an instance did not accept. */
  readonly isRetrying: boolean;
  readonly onRestart?: (restart: number, totals: Totals) => void;
}

export async function rollThrough(t: Lifetime, rolling: Rolling) {
  const { folder, database, inside } = commandLine(t);
  await inside(fillFixture, 'sandbox');
  const flags = [
    ...['--database', database, '--environment', 'sandbox', '--brands-rate', '0', '--log-level', 'warn'],
    ...['--drain-delay', String(rolling.drainDelaySeconds)],
    // The same for both instances, so that their answers are equal.
    ...['--public-url', 'https://network.example'],
  ];
  const logPaths = ['one', 'two'].map((name) => join(folder, `${name}.log`));
  const [one, two] = await Promise.all(logPaths.map((path) => createInstance(t, path, path, flags)));
  const instances = [one!, two!] as const;
  await Promise.all(instances.map(({ start }) => start()));
  const balancer = await startHaproxy(t, instances, (config) =>
    namingSender(rolling.isRetrying ? config : withoutRetries(config)),
  );
  /** The logs of the balancer and of the instances. */
  const logs = () => [balancer.words(), ...logPaths.map((path) => readFileSync(path, 'utf8'))].join('');
  const call = { ...(await callForBrands(instances[0].port)), port: balancer.port };

  const callers = startCallers(call, rolling.callers, rolling.perSecond);
  for (let restart = 1; restart <= rolling.restarts; restart += 1) {
    const instance = instances[restart % 2]!;
    const status = await instance.terminate();
    if (status !== 0) throw new Error(`An instance ended with status ${status}:\n${logs()}`);
    await instance.start();
    // The next restart must wait until the balancer uses this instance again.
    await balancer.untilAllUp();
    rolling.onRestart?.(restart, callers.totals());
  }
  const totals = await callers.stop();
  return { ...totals, logs: logs() };
}

/** Marks the balancer's own answers, which otherwise look like those of the service. */
function namingSender(config: string): string {
  return config.replace(
    /^( +http-after-response set-header )X-Request-Id \S+(.*)$/m,
    '$1X-Answered-By "the balancer"$2\n$&',
  );
}

function withoutRetries(config: string): string {
  return config.replace(/^ +retry-on .*\n/m, '').replace(/^( +retries) \d+$/m, '$1 0');
}
