import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTime } from '../../../common/src/times.ts';
import { createKeyExpiry } from '../../src/serve/run.ts';

test('says when the first key expires, asks rarely, and says nothing if no key expires', async () => {
  let nowMs = Date.parse('2027-01-01T00:00:00Z');
  const answers: (string | undefined)[] = [toTime(nowMs + 60_000), toTime(nowMs + 90_000), undefined];
  const asked: string[] = [];
  const firstExpiry = async (of: string, at: string) => {
    asked.push(`${of} ${at}`);
    return answers.shift();
  };
  const read = createKeyExpiry({ firstExpiry }, 'partners', () => nowMs);
  const seconds = async () => (await read()).flatMap(({ readings }) => readings.map(({ value }) => value));

  assert.deepEqual(await seconds(), [60]);
  nowMs += 59_000;
  assert.deepEqual(await seconds(), [1], 'from the first answer');
  nowMs += 1_000;
  assert.deepEqual(await seconds(), [30], 'that key has expired, so the next one counts');
  nowMs += 30_000;
  assert.deepEqual(await seconds(), []);
  assert.deepEqual(await read(), [], 'the metric is absent');
  assert.deepEqual(asked, [
    'partners 2027-01-01T00:00:00.000Z',
    'partners 2027-01-01T00:01:00.000Z',
    'partners 2027-01-01T00:01:30.000Z',
  ]);
});

test('a lost database does not end the metrics', async () => {
  const read = createKeyExpiry({ firstExpiry: () => Promise.reject(new Error('lost')) }, 'administration');
  assert.deepEqual(await read(), []);
});
