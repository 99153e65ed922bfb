/** Restarts two instances behind HAProxy in turn by SIGTERM under steady load, and counts failed requests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { flag, wholeNumber } from '../../packages/common/src/command-line/options.ts';
import { apiKeyOf } from '../../packages/service/src/auth.ts';
import { fillFixture } from '../../packages/testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { commandLine, run } from '../../packages/testkit/fixtures/run.ts';
import { loadPostgresOf, newestPackage, placePackage } from '../../packages/testkit/releases/releases.ts';
import { startHaproxy, withoutHaproxy } from '../../packages/testkit/servers/haproxy.ts';
import { createInstance } from '../../packages/testkit/servers/instance.ts';
import { startPostgres } from '../../packages/testkit/servers/postgres-start.ts';
import { quantile } from '../bench/lib/report.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../lib/program.ts';
import { callForBrands, failuresText, startCallers } from './callers.ts';

const about = `
Starts two instances behind HAProxy, with the configuration in docs/how-to/operators/haproxy.cfg, and callers
that keep their connections and never retry. Restarts the instances in turn by SIGTERM, each when the
balancer uses the previous one again. Ends with status 1 if a request does not get its right answer.

With --upgrade, the instances are first of the last release in test/releases/, on Postgres. Then "migrate"
of this version runs, and each restart replaces an instance by this version.`;

/** What the instances serve, what the callers request, and the program that the instances are of at first. */
async function fixtureStage() {
  const { database, inside } = commandLine(wholeRun);
  await inside(fillFixture, 'sandbox');
  return { database, page: undefined, program: undefined };
}

async function lastReleaseStage() {
  const { release, file } = newestPackage()!;
  const database = (await startPostgres(wholeRun)).url();
  await loadPostgresOf(release, database);
  const key = apiKeyOf('sandbox', 'oldAcme'.padEnd(43, '0'));
  // Few enough for one page: a cursor would differ in every answer.
  const page = { path: '/network/v1/brands?reference_id=two', key };
  return { database, page, program: placePackage(wholeRun, file) };
}

interface Flags {
  readonly restarts: number;
  readonly 'drain-delay': number;
  readonly callers: number;
  readonly rate: number;
  readonly 'no-retries': boolean;
  readonly upgrade: boolean;
}

async function roll({ restarts, rate, upgrade, ...flags }: Flags): Promise<boolean> {
  const folder = temporaryFolder(wholeRun);
  const { database, page, program } = await (upgrade ? lastReleaseStage() : fixtureStage());
  const where = ['--database', database, '--environment', 'sandbox'];
  const words = [
    ...where,
    '--brands-rate=0',
    '--log-level=warn',
    `--drain-delay=${flags['drain-delay']}`,
    // The same for both instances, so that their answers are equal.
    '--public-url=https://network.example',
  ];
  const logPaths = ['one', 'two'].map((name) => join(folder, `${name}.log`));
  const [one, two] = await Promise.all(logPaths.map((path) => createInstance(wholeRun, path, path, words)));
  const instances = [one!, two!] as const;
  await Promise.all(instances.map(({ start }) => start(program)));
  const balancer = await startHaproxy(wholeRun, instances, (config) =>
    namingSender(flags['no-retries'] ? withoutRetries(config) : config),
  );
  /** The logs of the balancer and of the instances. */
  const logs = () => [balancer.words(), ...logPaths.map((path) => readFileSync(path, 'utf8'))].join('');
  const call = { ...(await callForBrands(instances[0].port, page)), port: balancer.port };

  const callers = startCallers(call, flags.callers, rate);
  if (upgrade) {
    const { status, stderr } = await run(['migrate', ...where]);
    if (status !== 0) throw new Error(`"migrate" failed: ${stderr}`);
  }
  for (let restart = 1; restart <= restarts; restart += 1) {
    const instance = instances[restart % 2]!;
    const status = await instance.terminate();
    if (status !== 0) throw new Error(`An instance ended with status ${status}:\n${logs()}`);
    await instance.start();
    // The next restart must wait until the balancer uses this instance again.
    await balancer.untilAllUp();
    const soFar = callers.totals();
    say(`Restart ${restart} of ${restarts}; ${soFar.tookMs.length} requests, ${failuresText(soFar)}.`);
  }
  const totals = await callers.stop();
  print(
    `${restarts} restarts, ${totals.tookMs.length} requests of ${flags.callers} callers, ` +
      `${failuresText(totals)}; the slowest took ${quantile(totals.tookMs, 1).toFixed(0)} ms. ` +
      `The balancer ${flags['no-retries'] ? 'did not retry' : 'could retry on the other instance'}.`,
  );
  if (totals.failures.size > 0) say(`The logs of the balancer and the instances:\n${logs()}`);
  return totals.failures.size === 0;
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

await runProgram({
  usage: 'npm run check -- rolling',
  about,
  options: {
    restarts: withDefault('N', wholeNumber(1, 999_999), 20, 'number of restarts'),
    'drain-delay': withDefault('N', wholeNumber(1, 60), 5, 'seconds, as for serve'),
    callers: withDefault('N', wholeNumber(1, 10_000), 50, 'callers, each with its own connection'),
    rate: withDefault('N', wholeNumber(1, 100_000), 300, 'requests a second of all callers together'),
    'no-retries': flag('the balancer does not retry either'),
    upgrade: flag('upgrade from the last release to this version'),
  },
  missing: ({ upgrade }) =>
    withoutHaproxy ||
    (upgrade &&
      newestPackage() === undefined &&
      'test/releases/ has no package: run "npm run release:keep" first.'),
  run: roll,
});
