/** Promises of every development program: `npm run check -- fuzz`, `npm run bench -- speed` and so on. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { runs } from '../../checks/run.ts';
import { isLongRun, temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { root } from '../sources.ts';

const programs = Object.entries(runs).flatMap(([kind, all]) =>
  Object.entries(all)
    .filter(([, { command }]) => /^node checks\/\S+$/.test(command))
    .map(([name, { command }]) => ({
      usage: `npm run ${kind} -- ${name}`,
      file: command.replace('node ', ''),
    })),
);
const ofRelease = ['check', 'build', 'keep'].map((name) => ({
  usage: `npm run release:${name} --`,
  file: `scripts/release/${name}.ts`,
}));

const run = (file: string, flag: string) => promisify(execFile)(process.execPath, [join(root, file), flag]);

test('every program has --help, and refuses unknown flags with status 2', async () => {
  const started = programs.filter(({ usage }) => /rolling|client-runtimes/.test(usage));
  // A start takes most of a second.
  for (const { usage, file } of isLongRun ? [...programs, ...ofRelease] : started) {
    const { stdout } = await run(file, '--help');
    assert.ok(stdout.startsWith(`Usage: ${usage} [FLAGS]\n`), stdout);
    assert.match(stdout, /\n {2}--help +this text\n$/);
  }
  const refused = { code: 2, stderr: 'There is no flag --bogus.\n' };
  for (const { file } of started) await assert.rejects(run(file, '--bogus'), refused);
});

test('check and bench list every program, and end with status 2 after an unknown name', async () => {
  const words = (...more: string[]) => [join(root, 'checks/run.ts'), ...more];
  for (const [kind, all] of Object.entries(runs)) {
    const { stdout } = await promisify(execFile)(process.execPath, words(kind));
    for (const [name, { about }] of Object.entries(all)) {
      assert.match(stdout, new RegExp(`^  ${name} +${RegExp.escape(about)}$`, 'm'));
    }
    await assert.rejects(promisify(execFile)(process.execPath, words(kind, 'bogus')), { code: 2 });
  }
});

test('a program that gets a signal twice, as from npm and a terminal, removes what it made', async (t) => {
  const folder = temporaryFolder(t);
  const program = `
    import { runProgram, wholeRun } from './checks/lib/program.ts';
    import { temporaryFolder } from './packages/testkit/fixtures/lifetime.ts';
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
