/** Runs all tests: each once, then those of listings and imports again on Postgres. Part of `npm test`. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

function runTests(env: Record<string, string>, ...globs: string[]): boolean {
  const words = [
    '--test',
    `--test-concurrency=${process.env.TEST_CONCURRENCY ?? 3}`,
    '--test-global-setup=packages/testkit/servers/global-setup.ts',
    '--test-timeout=240000',
    '--test-reporter=spec',
    ...globs,
  ];
  const NODE_COMPILE_CACHE = `${root}/node_modules/.cache/tests`;
  const options = {
    cwd: root,
    env: { ...process.env, NODE_COMPILE_CACHE, ...env },
    stdio: 'inherit',
  } as const;
  return spawnSync(process.execPath, words, options).status === 0;
}

const isPassed =
  runTests({}, 'packages/{*/test,testkit}/**/*.test.ts', 'test/**/*.test.ts') &&
  runTests(
    { TEST_ENGINE: 'postgres', TEST_UPGRADED: '1' },
    'packages/service/test/{brands,balances,listings}/*.test.ts',
    'packages/operator/test/ingest/import{,-replace,-follow,-bad-json}.test.ts',
  );
process.exitCode = isPassed ? 0 : 1;
