import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgress } from '../../src/command-line/progress.ts';

/** A screen that records its output, and a clock that the test sets. */
function createScene(size: number | undefined, isTTY = true, columns = 80) {
  const written: string[] = [];
  const clock = { ms: 0 };
  const screen = { isTTY, columns, write: (text: string) => written.push(text) };
  return { written, clock, progress: createProgress(screen, 'read', size, () => clock.ms) };
}

/** What a person sees at the end. */
function seen(written: readonly string[]): string[] {
  const lines = [''];
  for (const part of written.join('').split(/(\r\u001b\[K|\u001b\[1A|\n)/)) {
    if (part === '\n') lines.push('');
    else if (part === '\u001b[1A') lines.pop();
    else lines[lines.length - 1] = part === '\r\u001b[K' ? '' : lines.at(-1)! + part;
  }
  return lines;
}

test('shows share, number, rate and time left of a file', () => {
  const { written, clock, progress } = createScene(1_000);
  clock.ms = 2_000;
  progress.bytes(250);
  progress.done(50_000);
  assert.deepEqual(seen(written), ['[######..................]  25%  50,000 read  25,000/s  0:06 left']);
  clock.ms = 4_000;
  progress.bytes(750);
  progress.done(200_000);
  assert.deepEqual(seen(written), ['[########################] 100%  200,000 read  50,000/s  0:00 left']);
});

test('shows the time left in minutes and hours', () => {
  for (const [ms, left] of [
    [10_000, '2:40:00'],
    [1_000, '16:00'],
    [500, '8:00'],
  ] as const) {
    const { written, clock, progress } = createScene(961);
    clock.ms = ms;
    progress.bytes(1);
    progress.done(500);
    assert.match(seen(written)[0]!, new RegExp(` ${left} left$`));
  }
});

test('shows only number and rate if the total is unknown', () => {
  const { written, clock, progress } = createScene(undefined);
  clock.ms = 500;
  progress.bytes(250);
  progress.done(1_500);
  assert.deepEqual(seen(written), ['1,500 read  3,000/s']);
});

test('is updated at most ten times a second', () => {
  const { written, clock, progress } = createScene(1_000_000);
  for (; clock.ms < 1_000; clock.ms += 1) progress.done(clock.ms);
  assert.ok(written.length > 5 && written.length <= 10, `drawn ${written.length} times`);
});

test('shows that it writes, on a line of its own in case of an interrupt', () => {
  const { written, clock, progress } = createScene(1_000);
  clock.ms = 2_000;
  progress.done(500);
  progress.writing(1_000_000);
  assert.deepEqual(seen(written), ['writing 1,000,000 records in one transaction …', '']);
});

test('leaves nothing on the screen when it is cleared', () => {
  for (const last of ['nothing', 'read', 'writing'] as const) {
    const { written, clock, progress } = createScene(1_000);
    clock.ms = 2_000;
    if (last !== 'nothing') progress.done(500);
    if (last === 'writing') progress.writing(500);
    progress.clear();
    progress.clear();
    assert.deepEqual(seen(written), ['']);
  }
});

test('fits on one line of a narrow terminal, without the bar', () => {
  const line = '25%  50,000 read  25,000/s  0:06 left';
  for (const columns of [61, 40, 30]) {
    const { written, clock, progress } = createScene(1_000, true, columns);
    clock.ms = 2_000;
    progress.bytes(250);
    progress.done(50_000);
    assert.deepEqual(seen(written), [line.slice(0, columns - 1)]);
  }
});

test('writes nothing without a terminal', () => {
  const { written, clock, progress } = createScene(1_000, false);
  clock.ms = 2_000;
  progress.done(500);
  progress.writing(500);
  progress.clear();
  assert.deepEqual(written, []);
});
