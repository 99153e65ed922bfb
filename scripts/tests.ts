/**
 * Runs all tests: each once, then those of listings and imports again on Postgres. Part of `npm test`, which
 * leaves out the tests that are too long for it. With patterns of files, it runs only these, once.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isLongRun } from '../packages/testkit/fixtures/long-run.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Tests write and delete thousands of small files, for Postgres above all. On a disk this costs a tenth of
 * the run's CPU, so they are kept in memory if it has room.
 */
const folder = mkdtempSync(`${roomInMemory() ? '/dev/shm' : tmpdir()}/partner-network-tests-`);
// As the system's own folder, because servers run as other users.
chmodSync(folder, 0o1777);

function roomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize > 8 * 1024 ** 3;
  } catch {
    return false;
  }
}

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
    env: { ...process.env, TMPDIR: folder, NODE_COMPILE_CACHE, ...env },
    stdio: 'inherit',
  } as const;
  return spawnSync(process.execPath, words, options).status === 0;
}

// Ctrl-C ends the tests, and this process then deletes the folder.
process.on('SIGINT', () => {});
const chosen = process.argv.slice(2);
const ofRepository = isLongRun ? 'test/**/*.test.ts' : 'test/{*,*/*}.test.ts';
const isPassed =
  chosen.length > 0
    ? runTests({}, ...chosen)
    : runTests({}, 'packages/{*/test,testkit}/**/*.test.ts', 'clients/*/test/*.test.ts', ofRepository) &&
      runTests(
        { TEST_ENGINE: 'postgres', TEST_UPGRADED: '1' },
        'packages/service/test/{brands,balances,listings}/*.test.ts',
        'packages/operator/test/ingest/import{,-replace,-follow,-bad-json}.test.ts',
      );
rmSync(folder, { recursive: true, force: true });
process.exitCode = isPassed ? 0 : 1;
