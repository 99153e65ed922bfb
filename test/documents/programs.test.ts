/** What holds for every program of ours beside the service: `npm run fuzz`, `chaos`, `bench:…` and so on. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { readWords } from '../../bench/lib/flags.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { root } from './clone.ts';

const engines = ['sqlite', 'postgres'] as const;

function read(...words: string[]) {
  const options = { engine: 'value', seconds: 'value', keep: 'switch' } as const;
  return readWords(words, options, (given) => ({
    engine: given.oneOf('engine', engines, 'sqlite'),
    seconds: given.wholeNumber('seconds', 1, 20, 4),
    isKept: given.has('keep'),
  }));
}

test('flags are read as they are written, and are what the help says unless they are given', () => {
  assert.deepEqual(read().flags, { engine: 'sqlite', seconds: 4, isKept: false });
  const { flags, problems } = read('--engine=postgres', '--seconds', '20', '--keep');
  assert.deepEqual(flags, { engine: 'postgres', seconds: 20, isKept: true });
  assert.deepEqual(problems, []);
  assert.ok(read('--help').isHelp);
});

test('all that is wrong with the flags is said at once, in a sentence each', () => {
  const words = ['--engine', 'mysql', '--keep=no', '--bogus', '1', 'more', '--seconds', '--constructor'];
  assert.deepEqual(read(...words).problems, [
    '--keep takes no value.',
    'There is no flag "--bogus": see --help.',
    'There is no flag "more": see --help.',
    '--seconds needs a value.',
    'There is no flag "--constructor": see --help.',
    '--engine must be sqlite or postgres.',
  ]);
  for (const seconds of ['0', '21', '1.5', '-1', '', 'x', '1e1']) {
    assert.deepEqual(read('--seconds', seconds).problems, ['--seconds must be a whole number, 1 to 20.']);
  }
});

test('a program that is told to stop twice, as npm and a terminal do, removes what it made', async (t) => {
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
    await runProgram({ help: '', options: {}, readFlags: () => ({}), run });`;
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
