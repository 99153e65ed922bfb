/** Runs the suites of the store and of the listings, and scenes with faults, on a Citus cluster. */
import { spawn } from 'node:child_process';
import { existsSync, globSync, statfsSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { print, runProgram, say, wholeRun } from '../bench/lib/program.ts';
import { oneOf, optional } from '../packages/server/src/command-line/options.ts';
import { roleSettings } from '../packages/server/src/store/postgres/distribution/distribute.ts';
import { startCluster } from '../packages/testkit/citus/cluster.ts';
import {
  buildCitus,
  cannotBuildCitus,
  findCitus,
  testedVersion,
} from '../packages/testkit/citus/programs.ts';
import { killAfter, openLifetime } from '../packages/testkit/fixtures/lifetime.ts';
import { onConnection } from '../packages/testkit/servers/postgres-start.ts';

const about = `
Starts a Citus cluster on this machine, a coordinator and two workers, and runs on it the suite of the store,
the tests of both listings and of imports, and migrations. Then it runs the scenes in citus/test, each on a
cluster of its own: nodes are killed, frozen, restarted and shards moved. Ends with status 1 if a test fails.

Citus must be installed for a Postgres of this machine. If it is not, it is built and installed from the
sources that CITUS_SOURCE names: a folder or an archive of the public repository citusdata/citus at v12.1.12.
This takes about five minutes.`;

/** For three nodes whose logs grow to 1 GB each, and their databases. */
const roomBytes = 8e9;

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Tests that share a cluster. Left out of the store's: tests without a database (consent, cursor-keys,
 * import-order, migration-files), of connections alone (connection, errors, pool, primary-watch), of replicas
 * (replicas, round-trips), of plans on one node (plans, operator-plans, receipts-plans, unknown-keys), and of
 * databases with rows, which are not distributed (upgrade).
 */
const suites = {
  store: [
    'packages/server/test/store/{audit-roles,deletions,export-bytes,import-races,moves,rotation-races}.test.ts',
    'packages/server/test/store/same-bytes.test.ts',
    'packages/server/test/store/postgres/{postgres,constraints,records,migrate-indexes}.test.ts',
  ],
  http: [
    'packages/server/test/{brands,balances}/*.test.ts',
    'packages/server/test/ingest/import{,-replace,-follow,-bad-json}.test.ts',
  ],
  migrations: ['citus/test/migrations.test.ts'],
};

const scenes = globSync('citus/test/*.test.ts', { cwd: root })
  .toSorted()
  .filter((file) => !suites.migrations.includes(file));

const sceneOf = (file: string) => basename(file, '.test.ts');

/** Runs test files, and prints what held. */
async function held(
  files: readonly string[],
  concurrency: number,
  variables: NodeJS.ProcessEnv = {},
): Promise<boolean> {
  const words = [`--test-concurrency=${concurrency}`, '--test-timeout=240000', '--test-reporter=spec'];
  const child = spawn(process.execPath, ['--test', ...words, ...files], {
    cwd: root,
    env: { ...process.env, NODE_COMPILE_CACHE: `${root}/node_modules/.cache/tests`, ...variables },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await killAfter(wholeRun, child);
  return child.exitCode === 0;
}

async function runSuites(names: readonly (keyof typeof suites)[]): Promise<string[]> {
  const lifetime = openLifetime();
  wholeRun.after(lifetime[Symbol.asyncDispose]);
  // Copies of a database do not have the settings of roles. Four shards take less time than 32.
  const cluster = await startCluster(lifetime, { ...roleSettings, 'citus.shard_count': '4' });
  const [coordinator, ...workers] = cluster.nodes;
  const version = await onConnection(coordinator!, async (client) => {
    const query = `select default_version as found from pg_available_extensions where name = 'citus'`;
    return (await client.query(query)).rows[0].found;
  });
  if (!version.startsWith(testedVersion)) {
    say(`This is Citus ${version}. The repository is tested with ${testedVersion}.`);
  }
  const variables = {
    TEST_ENGINE: 'postgres',
    TEST_DATABASE_URL: coordinator,
    TEST_CITUS_WORKERS: workers.join(' '),
  };
  const failed = [];
  for (const name of names) {
    say(`On Citus ${version}: ${name}`);
    if (!(await held(suites[name], 3, variables))) failed.push(name);
  }
  await lifetime[Symbol.asyncDispose]();
  return failed;
}

/** Keeps databases in memory if there is room: the tests copy hundreds, on three nodes each. */
function useMemory(): void {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return;
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize > roomBytes) process.env.TMPDIR = memory;
}

const parts = [...Object.keys(suites), ...scenes.map(sceneOf)];

async function runParts(only: string | undefined): Promise<boolean> {
  const startedMs = performance.now();
  const failure = !findCitus() && (await buildCitus(wholeRun, say));
  if (failure) {
    say(failure);
    return false;
  }
  useMemory();
  const isChosen = (name: string) => only === undefined || only === name;
  const chosen = (Object.keys(suites) as (keyof typeof suites)[]).filter(isChosen);
  const failed: string[] = chosen.length === 0 ? [] : await runSuites(chosen);
  for (const scene of scenes.filter((file) => isChosen(sceneOf(file)))) {
    say(`On Citus: ${sceneOf(scene)}`);
    if (!(await held([scene], 1))) failed.push(sceneOf(scene));
  }
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
  print(failed.length === 0 ? `All held, in ${minutes} minutes.` : `Did not hold: ${failed.join(', ')}.`);
  return failed.length === 0;
}

await runProgram({
  usage: 'npm run citus --',
  about,
  options: { only: optional('PART', oneOf(parts), `run one part: ${parts.join(', ')}`) },
  missing: () => !findCitus() && cannotBuildCitus(),
  run: ({ only }) => runParts(only),
});
