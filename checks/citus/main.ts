/** Runs the suites of the store and of the listings, and scenes with faults, on a Citus cluster. */
import { spawn, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { oneOf, optional } from '../../packages/common/src/command-line/options.ts';
import { roleSettings } from '../../packages/store/src/postgres/distribution/distribute.ts';
import {
  configForCitus,
  findCitus,
  startCluster,
  testedVersion,
} from '../../packages/testkit/citus/cluster.ts';
import { killAfter, openLifetime, placeInMemory } from '../../packages/testkit/fixtures/lifetime.ts';
import { onConnection } from '../../packages/testkit/servers/postgres-start.ts';
import { print, runProgram, say, wholeRun } from '../lib/program.ts';

const about = `
Starts a Citus cluster on this machine, a coordinator and two workers, and runs on it the suite of the store,
the tests of both listings, imports and the administrative API, and migrations. Then it runs the scenes in
checks/citus/test, each on a cluster of its own: nodes are killed, frozen, restarted and shards moved. Ends
with status 1 if a test fails.

Citus must be installed for a Postgres of this machine. If it is not, it is built and installed from the
sources that CITUS_SOURCE names: a folder or an archive of the public repository citusdata/citus at v12.1.12.
This takes about five minutes.`;

const howToGetCitus =
  `No Postgres on this machine has Citus. Install Citus ${testedVersion}, or set CITUS_SOURCE to its ` +
  'sources and install what checks/citus/build.sh names. Citus supports Postgres up to 16.';

/** For three nodes whose logs grow to 1 GB each, and their databases. */
const roomBytes = 8e9;

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Tests that share a cluster. Left out of the store's: tests without a database (consent, cursor-keys,
 * import-order, migration-files), of connections alone (connection, errors, pool, primary-watch), of replicas
 * (replicas, round-trips), of plans on one node (plans, unknown-keys), and of
 * databases with rows, which are not distributed (upgrade).
 */
const suites = {
  store: [
    'packages/store/test/{roles,deletions,export-bytes,import-races,moves,rotation-races}.test.ts',
    'packages/store/test/postgres/{postgres,constraints,records,migrate-indexes}.test.ts',
  ],
  http: [
    'packages/service/test/listings/{balances,brands,receipts,tenants,walk}.test.ts',
    'packages/operator/test/ingest/{import{,-follow,-bad-json},killed,model}.test.ts',
  ],
  admin: [
    'packages/operator/test/admin/{batches,changes,command,lists}.test.ts',
    'packages/operator/test/console/pages.test.ts',
  ],
  migrations: ['checks/citus/test/migrations.test.ts'],
};

type Suite = keyof typeof suites;
const suiteNames = Object.keys(suites) as Suite[];

/** Each starts clusters of its own. */
const scenes = globSync('checks/citus/test/*.test.ts', { cwd: root })
  .map((file) => basename(file, '.test.ts'))
  .filter((name) => !suiteNames.includes(name as Suite))
  .toSorted();

/** Runs test files, and prints what held. */
async function held(files: readonly string[], concurrency: number, variables = {}): Promise<boolean> {
  const words = [`--test-concurrency=${concurrency}`, '--test-timeout=240000', '--test-reporter=spec'];
  const cache = { NODE_COMPILE_CACHE: `${root}/node_modules/.cache/tests` };
  const env = { ...process.env, ...cache, ...variables };
  const child = spawn(process.execPath, ['--test', ...words, ...files], { cwd: root, env, stdio: 'inherit' });
  await killAfter(wholeRun, child);
  return child.exitCode === 0;
}

async function suitesHeld(names: readonly Suite[]): Promise<boolean> {
  const lifetime = openLifetime();
  wholeRun.after(lifetime[Symbol.asyncDispose]);
  // Copies of a database do not have the settings of roles. Four shards take less time than 32.
  const { nodes } = await startCluster(lifetime, { ...roleSettings, 'citus.shard_count': '4' });
  const [coordinator, ...workers] = nodes;
  const { rows } = await onConnection(coordinator!, (client) =>
    client.query(`select default_version as citus from pg_available_extensions where name = 'citus'`),
  );
  say(`Citus ${rows[0].citus} was found. The tests are written for ${testedVersion}.`);
  const files = names.flatMap((name) => suites[name]);
  const urls = { TEST_DATABASE_URL: coordinator, TEST_CITUS_WORKERS: workers.join(' ') };
  const isHeld = await held(files, 3, { ...urls, TEST_ENGINE: 'postgres' });
  await lifetime[Symbol.asyncDispose]();
  return isHeld;
}

function buildCitus(): boolean {
  say('Building Citus, which takes about five minutes.');
  const env = { ...process.env, PG_CONFIG: configForCitus() };
  const { status } = spawnSync(`${root}/checks/citus/build.sh`, { env, stdio: 'inherit' });
  return status === 0 && findCitus();
}

async function runParts(only: string | undefined): Promise<boolean> {
  const startedMs = performance.now();
  if (!findCitus() && !buildCitus()) return false;
  // The tests copy hundreds of databases, on three nodes each.
  process.env.TMPDIR = placeInMemory(roomBytes);
  const isChosen = (name: string) => only === undefined || only === name;
  const chosen = suiteNames.filter(isChosen);
  const failed: string[] = chosen.length === 0 || (await suitesHeld(chosen)) ? [] : ['the suites'];
  for (const name of scenes.filter(isChosen)) {
    say(`Scene: ${name}`);
    if (!(await held([`checks/citus/test/${name}.test.ts`], 1))) failed.push(name);
  }
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
  const outcome = failed.length === 0 ? 'All held' : `Did not hold: ${failed.join(', ')}`;
  print(`${outcome}. It took ${minutes} minutes.`);
  return failed.length === 0;
}

const parts = [...suiteNames, ...scenes];

await runProgram({
  usage: 'npm run check -- citus',
  about,
  options: { only: optional('PART', oneOf(parts), `run one part: ${parts.join(', ')}`) },
  missing: () => !findCitus() && !(process.env.CITUS_SOURCE && configForCitus()) && howToGetCitus,
  run: ({ only }) => runParts(only),
});
