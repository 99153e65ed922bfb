import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTime } from '../../../common/src/times.ts';
import { createKeyExpiry } from '../../src/serve/run.ts';

test('says when the first key expires, by the last answer, and nothing if no key expires', async () => {
  let nowMs = Date.parse('2027-01-01T00:00:00Z');
  let answer: string | undefined | Error = toTime(nowMs + 60_000);
  const asked: string[] = [];
  const firstExpiry = async (of: string, at: string) => {
    asked.push(`${of} ${at}`);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const read = createKeyExpiry({ firstExpiry }, 'partners', () => nowMs);
  const seconds = async () => (await read()).flatMap(({ readings }) => readings.map(({ value }) => value));

  assert.deepEqual(await seconds(), [60]);
  nowMs += 59_000;
  answer = new Error('lost');
  assert.deepEqual(await seconds(), [1], 'from the last answer');
  nowMs += 1_000;
  assert.deepEqual(await seconds(), [], 'that key has expired');
  answer = toTime(nowMs + 30_000);
  assert.deepEqual(await seconds(), [30]);
  answer = undefined;
  assert.deepEqual(await read(), [], 'the metric is absent');
  assert.equal(asked[0], 'partners 2027-01-01T00:00:00.000Z');
});
