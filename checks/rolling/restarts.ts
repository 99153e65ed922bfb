/** Restarts two instances behind HAProxy in turn by SIGTERM while callers send requests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiKeyOf } from '../../packages/service/src/auth/api-key.ts';
import { fillFixture } from '../../packages/testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import type { Lifetime } from '../../packages/testkit/fixtures/lifetime.ts';
import { commandLine, run } from '../../packages/testkit/fixtures/run.ts';
import { loadPostgresOf, newestPackage, placePackage } from '../../packages/testkit/releases/releases.ts';
import { startHaproxy } from '../../packages/testkit/servers/haproxy.ts';
import { createInstance } from '../../packages/testkit/servers/instance.ts';
import { startPostgres } from '../../packages/testkit/servers/postgres-start.ts';
import { type Call, callForBrands, pageOfFixture, startCallers, type Totals } from './callers.ts';

export interface Rolling {
  readonly restarts: number;
  readonly drainDelaySeconds: number;
  readonly callers: number;
  readonly perSecond: number;
  /** Whether the balancer retries a request that an instance did not accept. */
  readonly isRetrying: boolean;
  /** Whether the instances are of the last release, on Postgres, until they are restarted. */
  readonly isUpgrade?: boolean;
  readonly onRestart?: (restart: number, totals: Totals) => void;
}

/** What the instances serve, and by which program they are started first. */
interface Stage {
  readonly database: string;
  readonly call: Pick<Call, 'path' | 'key'>;
  readonly program?: string;
}

async function fixtureStage(t: Lifetime): Promise<Stage> {
  const { database, inside } = commandLine(t);
  await inside(fillFixture, 'sandbox');
  return { database, call: pageOfFixture };
}

async function lastReleaseStage(t: Lifetime): Promise<Stage> {
  const { release, file } = newestPackage()!;
  const database = (await startPostgres(t)).url();
  await loadPostgresOf(release, database);
  const key = apiKeyOf('sandbox', 'oldAcme'.padEnd(43, '0'));
  // Few enough for one page: a cursor would differ in every answer.
  const path = '/network/v1/brands?reference_id=two';
  return { database, call: { path, key }, program: placePackage(t, file) };
}

export async function rollThrough(t: Lifetime, rolling: Rolling) {
  const folder = temporaryFolder(t);
  const stage = await (rolling.isUpgrade ? lastReleaseStage(t) : fixtureStage(t));
  const where = ['--database', stage.database, '--environment', 'sandbox'];
  const flags = [
    ...[...where, '--brands-rate', '0', '--log-level', 'warn'],
    ...['--drain-delay', String(rolling.drainDelaySeconds)],
    // The same for both instances, so that their answers are equal.
    ...['--public-url', 'https://network.example'],
  ];
  const logPaths = ['one', 'two'].map((name) => join(folder, `${name}.log`));
  const [one, two] = await Promise.all(logPaths.map((path) => createInstance(t, path, path, flags)));
  const instances = [one!, two!] as const;
  await Promise.all(instances.map(({ start }) => start(stage.program)));
  const balancer = await startHaproxy(t, instances, (config) =>
    namingSender(rolling.isRetrying ? config : withoutRetries(config)),
  );
  /** The logs of the balancer and of the instances. */
  const logs = () => [balancer.words(), ...logPaths.map((path) => readFileSync(path, 'utf8'))].join('');
  const call = { ...(await callForBrands(instances[0].port, stage.call)), port: balancer.port };

  const callers = startCallers(call, rolling.callers, rolling.perSecond);
  if (rolling.isUpgrade) {
    const { status, stderr } = await run(['migrate', ...where]);
    if (status !== 0) throw new Error(`"migrate" failed: ${stderr}`);
  }
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
