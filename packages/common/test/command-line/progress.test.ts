import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { createProgress } from '../../src/command-line/progress.ts';

/** A screen that records its output, and a clock that the test sets. */
function createScene(totalBytes: number | undefined, isTTY = true, columns = 80, afterMs = 0) {
  const written: string[] = [];
  const clock = { ms: 0 };
  const stream = new Writable({
    decodeStrings: false,
    write: (text, _, done) => done(void written.push(text)),
  });
  const screen = Object.assign(stream, { isTTY, columns });
  const progress = createProgress(screen, afterMs, totalBytes, () => clock.ms);
  return { written, clock, progress };
}

/** What a person sees at the end. */
function seen(written: readonly string[]): string[] {
  const lines = [''];
  for (const part of written.join('').split(/(\r\u001b\[K|\n)/)) {
    if (part === '\n') lines.push('');
    else
      lines[lines.length - 1] = part === '\r\u001b[K' ? '' : lines.at(-1)! + stripVTControlCharacters(part);
  }
  return lines;
}

/** What is shown when `bytes` of `total` were read, and this number of records was done in `ms`. */
function shownAt(total: number | undefined, bytes: number, records: number, ms: number, columns = 80) {
  const { written, clock, progress } = createScene(total, true, columns);
  clock.ms = ms;
  progress.bytes(bytes);
  progress.done(records);
  return seen(written);
}

test('shows share, number, rate and time left of a file; without a total only number and rate', () => {
  const quarter = '25%  50,000 read  25,000/s  0:06 left';
  assert.deepEqual(shownAt(1_000, 250, 50_000, 2_000), [`[######..................]  ${quarter}`]);
  const whole = '[########################] 100%  200,000 read  50,000/s  0:00 left';
  assert.deepEqual(shownAt(1_000, 1_000, 200_000, 4_000), [whole]);
  assert.deepEqual(shownAt(undefined, 250, 1_500, 500), ['1,500 read  3,000/s']);
  for (const [ms, left] of [
    [10_000, '2:40:00'],
    [1_000, '16:00'],
    [500, '8:00'],
  ] as const) {
    assert.match(shownAt(961, 1, 500, ms)[0]!, new RegExp(` ${left} left$`));
  }
  // A narrow terminal has no room for the bar.
  for (const columns of [61, 40, 30])
    assert.deepEqual(shownAt(1_000, 250, 50_000, 2_000, columns), [quarter.slice(0, columns - 1)]);
});

test('is updated at most ten times a second', () => {
  const { written, clock, progress } = createScene(1_000_000);
  for (; clock.ms < 1_000; clock.ms += 1) progress.done(clock.ms);
  assert.ok(written.length > 5 && written.length <= 10, `drawn ${written.length} times`);
});

test('shows each step at once, and then for how long the command works', () => {
  const { written, clock, progress } = createScene(1_000);
  clock.ms = 2_000;
  progress.done(500);
  progress.step('1,000 records staged, merging');
  assert.deepEqual(seen(written), ['1,000 records staged, merging … 0:02']);
  clock.ms = 62_000;
  progress.step('committing');
  assert.deepEqual(seen(written), ['committing … 1:02']);
});

test('shows nothing of what ends within two seconds', () => {
  const { written, clock, progress } = createScene(undefined, true, 80, 2_000);
  progress.step('waiting');
  clock.ms = 1_999;
  progress.step('waiting');
  progress.clear();
  // A new wait.
  progress.step('waiting again');
  clock.ms = 3_998;
  progress.step('waiting again');
  assert.deepEqual(written, []);
  clock.ms = 3_999;
  progress.step('waiting again');
  assert.deepEqual(seen(written), ['waiting again … 0:04']);
});

test('draws again by itself while the command waits, and not after that', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { written, clock, progress } = createScene(undefined);
  const pass = (ms: number) => {
    for (const end = clock.ms + ms; clock.ms < end; clock.ms += 100) t.mock.timers.tick(100);
  };
  progress.step('waiting');
  pass(3_000);
  assert.deepEqual(seen(written), ['waiting … 0:03']);
  progress.clear();
  pass(3_000);
  assert.deepEqual(seen(written), ['']);
  progress.step('waiting');
  progress[Symbol.dispose]();
  const before = written.length;
  pass(3_000);
  assert.deepEqual([seen(written), written.length], [[''], before]);
});

test('leaves nothing on the screen when it is cleared', () => {
  for (const last of ['nothing', 'read', 'writing'] as const) {
    const { written, clock, progress } = createScene(1_000);
    clock.ms = 2_000;
    if (last !== 'nothing') progress.done(500);
    if (last === 'writing') progress.step('writing');
    progress.clear();
    progress.clear();
    assert.deepEqual(seen(written), ['']);
  }
});

test('draws nothing without a terminal, but writes a line every ten seconds', () => {
  const { written, clock, progress } = createScene(1_000, false);
  for (; clock.ms < 25_000; clock.ms += 1_000) {
    progress.bytes(10);
    if (clock.ms < 15_000) progress.done(clock.ms);
    else progress.step('merging');
  }
  progress.clear();
  assert.deepEqual(seen(written), ['11%  10,000 read  1,000/s  1:21 left', 'merging … 0:20', '']);
});
