/** The chaos judge must know when an instance lost Redis or got it back: then twice the rate is allowed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { switchesIn } from '../../checks/chaos/judge/redis-switches.ts';

test('a switch between Redis and an instance that decides by itself is found in its metric', () => {
  const spansOf = (...counts: [redis: number, local: number][]) =>
    switchesIn(
      counts.map(([redis, local], index) => ({
        redis,
        local,
        sentMs: 100 * index,
        receivedMs: 100 * index + 10,
      })),
    ).map(({ sentMs, receivedMs }) => [sentMs, receivedMs]);
  assert.deepEqual(spansOf(), []);
  assert.deepEqual(spansOf([5, 0], [7, 0], [7, 0], [9, 0]), []);
  assert.deepEqual(
    spansOf([5, 0], [7, 0], [7, 3], [7, 6], [9, 6]),
    [
      [0, 210],
      [200, 410],
    ],
    'a loss and a return',
  );
  assert.deepEqual(spansOf([5, 0], [7, 0], [7, 0], [7, 1]), [[0, 310]], 'without decisions in between');
  assert.deepEqual(
    spansOf([5, 0], [6, 1], [7, 1], [8, 1]),
    [
      [0, 110],
      [0, 210],
    ],
    'both in one reading',
  );
  assert.deepEqual(spansOf([5, 4], [0, 0], [2, 0]), [], 'a process that starts with Redis');
  assert.deepEqual(spansOf([5, 4], [0, 0], [0, 3]), [[0, 210]], 'a process that starts without');
});
