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

test('writes nothing without a terminal', () => {
  const { written, clock, progress } = createScene(1_000, false);
  clock.ms = 2_000;
  progress.done(500);
  progress.writing(500);
  progress.clear();
  assert.deepEqual(written, []);
});
