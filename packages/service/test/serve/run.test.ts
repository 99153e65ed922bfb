/** What `serve` says while it runs: of other instances, and of keys that expire. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { serveBounds } from '../../../common/src/bounds/service.ts';
import { toTime } from '../../../common/src/times.ts';
import { migratedDatabase, openServing } from '../../../testkit/service/database.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { createKeyExpiry, warnOfInstances } from '../../src/serve/run.ts';

test('Postgres counts other instances, whatever their connections, and not the own workers', async (t) => {
  const url = await migratedDatabase(t);
  const [one] = await Promise.all(['a', 'a'].map((instance) => openServing(t, url, { instance })));
  assert.equal(await one!.otherInstances!(), 0);
  await openServing(t, url, { instance: 'b' });
  assert.equal(await one!.otherInstances!(), 1);
});

test('warns at once and every hour while another instance limits rates alone', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { log, lines } = watchedLog();
  const found = [1, 0, 'unreachable', 2, 3];
  const stop = warnOfInstances(
    {
      otherInstances: async () => {
        const count = found.shift();
        if (typeof count !== 'number') throw new Error(count);
        return count;
      },
    },
    log,
  );
  const counts = () => lines().map(({ level, other_instances }) => [level, other_instances]);
  await nextTurn();
  assert.deepEqual(counts(), [[40, 1]]);
  for (let hour = 0; hour < 3; hour += 1) {
    t.mock.timers.tick(serveBounds.instancesWarningMs);
    await nextTurn();
  }
  assert.deepEqual(counts(), [
    [40, 1],
    [40, 2],
  ]);
  stop();
  t.mock.timers.tick(serveBounds.instancesWarningMs);
  await nextTurn();
  assert.deepEqual(found, [3]);
});

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
