/**
 * Runs all tests: each once, then those of listings and imports again on Postgres. It leaves out the tests
 * that are too long for `npm test`. With patterns of files, it runs only these, once.
 *
 *   --checked        checks types, lint and format first: `npm test`
 *   --fast           runs the tests that start no process, and so no server: `npm run test:fast`
 *   --package NAME   runs the tests of one package: `npm run test:package -- NAME`
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { isLongRun, placeInMemory } from '../packages/testkit/fixtures/lifetime.ts';
import { isFast, root, sources } from '../test/sources.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { checked: { type: 'boolean' }, fast: { type: 'boolean' }, package: { type: 'string' } },
});

const chosen = chosenFiles();

function chosenFiles(): string[] {
  if (values.fast) {
    return sources.filter((file) => /^(packages|clients|test)\/.*\.test\.ts$/.test(file) && isFast(file));
  }
  if (values.package === undefined) return positionals;
  if (!existsSync(`${root}/packages/${values.package}`)) {
    console.error(
      `There is no package "${values.package}". They are: ${readdirSync(`${root}/packages`).join(', ')}.`,
    );
    process.exit(2);
  }
  return [`packages/${values.package}/**/*.test.ts`];
}

/**
 * Tests write and delete thousands of small files, for Postgres above all. On a disk this costs a tenth of
 * the run's CPU, so they are kept in memory if it has room.
 */
const folder = mkdtempSync(`${placeInMemory(8 * 1024 ** 3)}/partner-network-tests-`);
// As the system's own folder, because servers run as other users.
chmodSync(folder, 0o1777);

/** Ctrl-C ends the running step, whose output is dropped from then on: each test would say that it failed. */
let isStopped = false;
process.on('SIGINT', () => {
  isStopped = true;
});

/** Output waits, because Ctrl-C also reaches the tests, whose last lines can be here before the signal. */
function show(to: NodeJS.WriteStream, text: string | Buffer): void {
  setTimeout(() => isStopped || to.write(text), 100);
}

/** Runs a program, after a line that names the step. Returns whether it passed. */
async function runStep(step: string, program: string, words: string[], env = {}): Promise<boolean> {
  show(process.stdout, `${step} …\n`);
  const startedMs = performance.now();
  const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const child = spawn(program, words, {
    cwd: root,
    env: { ...color, ...process.env, ...env },
    stdio: ['inherit', 'pipe', 'pipe'],
  });
  child.stdout.on('data', (chunk) => show(process.stdout, chunk));
  child.stderr.on('data', (chunk) => show(process.stderr, chunk));
  const [status] = await once(child, 'close');
  const isPassed = status === 0 && !isStopped;
  // The last lines of the tests are those of Node's test runner, which has the time.
  if (program !== process.execPath && isPassed) {
    show(process.stdout, `${step}: passed in ${Math.round((performance.now() - startedMs) / 1_000)} s\n`);
  }
  return isPassed;
}

function runTests(step: string, env: Record<string, string>, ...globs: string[]): Promise<boolean> {
  const servers = ['--test-global-setup=packages/testkit/servers/global-setup.ts'];
  const words = [
    '--test',
    `--test-concurrency=${process.env.TEST_CONCURRENCY ?? 4}`,
    ...(values.fast ? [] : servers),
    '--test-timeout=240000',
    '--test-reporter=spec',
    ...globs,
  ];
  const NODE_COMPILE_CACHE = `${root}/node_modules/.cache/tests`;
  return runStep(step, process.execPath, words, { TMPDIR: folder, NODE_COMPILE_CACHE, ...env });
}

async function runAll(): Promise<boolean> {
  const ofRepository = isLongRun ? 'test/**/*.test.ts' : 'test/{*,*/*}.test.ts';
  const all = ['packages/{*/test,testkit}/**/*.test.ts', 'clients/*/test/*.test.ts', ofRepository];
  return (
    (await runTests('Tests', {}, ...all)) &&
    runTests(
      'Tests of listings and imports on Postgres',
      { TEST_ENGINE: 'postgres', TEST_UPGRADED: '1' },
      'packages/service/test/listings/*.test.ts',
      'packages/operator/test/ingest/import{,-follow,-bad-json}.test.ts',
    )
  );
}

async function run(): Promise<boolean> {
  if (chosen.length > 0) return runTests('Tests', {}, ...chosen);
  const isChecked =
    !values.checked ||
    ((await runStep('Types', 'npm', ['run', '--silent', 'types'])) &&
      (await runStep('Lint and format', 'npm', ['run', '--silent', 'lint'])));
  return isChecked && runAll();
}

try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (isStopped) {
  process.stdout.write('Stopped.\n');
  process.exitCode = 130;
}
