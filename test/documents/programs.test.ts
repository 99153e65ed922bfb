/** Promises of every development program: `npm run fuzz`, `chaos`, `bench:…` and so on. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { isLongRun } from '../../packages/testkit/fixtures/long-run.ts';
import { read, root } from '../sources.ts';

const { scripts } = JSON.parse(read('package.json'));

const run = (name: string, flag: string) =>
  promisify(execFile)(process.execPath, [join(root, scripts[name].replace('node ', '')), flag]);

test('every program has --help, and refuses unknown flags with status 2', async () => {
  const started = ['rolling', 'client:runtimes'];
  const benches = [
    'bench:size',
    'bench:import',
    'bench:overload',
    'bench:neighbors',
    'bench:workers',
    'bench:timing',
  ];
  const others = [
    'chaos',
    'citus',
    'fuzz',
    'rolling',
    'hostile',
    'faults:import',
    'client:runtimes',
    'openapi:tools',
  ];
  const release = ['tests:package', 'release:check', 'release:keep'];
  // A start takes most of a second.
  for (const name of isLongRun ? ['bench', ...benches, ...others, ...release] : started) {
    const { stdout } = await run(name, '--help');
    assert.ok(stdout.startsWith(`Usage: npm run ${name} -- [FLAGS]\n`), stdout);
    assert.match(stdout, /\n {2}--help +this text\n$/);
  }
  const refused = { code: 2, stderr: 'There is no flag --bogus.\n' };
  for (const name of started) await assert.rejects(run(name, '--bogus'), refused);
});

test('a program that gets a signal twice, as from npm and a terminal, removes what it made', async (t) => {
  const folder = temporaryFolder(t);
  const program = `
    import { runProgram, wholeRun } from './bench/lib/program.ts';
    import { temporaryFolder } from './packages/testkit/fixtures/folder.ts';
    const run = async () => {
      temporaryFolder(wholeRun);
      wholeRun.after(() => new Promise((resolve) => process.once('SIGINT', resolve)));
      process.stdout.write('running');
      setTimeout(() => {}, 60_000);
      await new Promise(() => {});
    };
    await runProgram({ usage: '', about: '', options: {}, run });`;
  const words = ['--input-type=module', '--eval', program];
  const env = { ...process.env, TMPDIR: folder };
  const child = spawn(process.execPath, words, { env, cwd: root });
  t.after(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  assert.equal(readdirSync(folder).length, 1);
  child.kill('SIGINT');
  await once(child.stderr, 'data');
  child.kill('SIGINT');
  assert.deepEqual(await ended, [1, null]);
  assert.deepEqual(readdirSync(folder), []);
});
