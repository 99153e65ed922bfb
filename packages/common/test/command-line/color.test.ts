import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { runExecutable } from '../../../testkit/fixtures/run.ts';
import { needsTerminal, onTerminal } from '../../../testkit/fixtures/terminal.ts';

const words = ['keys', 'rotate', 'KEY_1', '--overlap', 'soon'];
const red = '\u001b[31m--overlap must be a number and a unit';
const plain = /^--overlap must be .*\n"partner-network keys rotate --help" lists its flags\.\n$/;

for (const [where, isColored, variables, flags] of [
  ['on a terminal', true, {}, []],
  ['with NO_COLOR', false, { NO_COLOR: '1', FORCE_COLOR: '1' }, []],
  ['with --no-color', false, { FORCE_COLOR: '1' }, ['--no-color']],
  ['on a dumb terminal', false, { TERM: 'dumb', FORCE_COLOR: '1' }, []],
] as const) {
  test(`an error is ${isColored ? 'red' : 'without color'} ${where}`, needsTerminal, async (t) => {
    const terminal = onTerminal(t, 200, [...words, ...flags], variables);
    assert.equal(await terminal.ended, 2);
    assert.equal(terminal.shown().includes(red), isColored, terminal.shown());
    assert.match(isColored ? stripVTControlCharacters(terminal.shown()) : terminal.shown(), plain);
  });
}

test('a pipe has colors only with FORCE_COLOR', async () => {
  for (const [isColored, variables] of [
    [false, {}],
    [true, { FORCE_COLOR: '1' }],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }],
  ] as const) {
    const { stderr } = await runExecutable(words, { variables });
    assert.equal(stderr.startsWith(red), isColored, stderr);
    assert.match(stripVTControlCharacters(stderr), plain);
  }
});

test('--no-color after -- belongs to the program that a command starts', async () => {
  const script = 'console.error(process.argv[1]); process.exit(7)';
  const program = [process.execPath, '-e', script, '--', '--no-color'];
  const { stderr } = await runExecutable(['rehearse', '--scenario', 'rate-limited', '--', ...program]);
  assert.match(stderr, /--no-color/);
});
