import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createDeadline } from '../../src/lib/timeout.ts';

const never = new Promise<never>(() => {});

test('each piece of work has its own time limit, also after a long pause', async () => {
  const inTime = createDeadline(50, () => new Error('late'));
  const passed = async (startedMs: number) => {
    await assert.rejects(inTime(never, startedMs), { message: 'late' });
    return performance.now() - startedMs;
  };
  const first = passed(performance.now());
  await wait(20);
  const second = passed(performance.now());
  for (const ms of [await first, await second]) assert.ok(ms >= 50, `${ms} ms`);
  assert.ok((await passed(performance.now())) >= 50);
});

test('work that started long ago has only the rest of its time', async () => {
  const inTime = createDeadline(60_000, () => new Error('late'));
  await assert.rejects(inTime(never, performance.now() - 60_000), { message: 'late' });
});

test('a result or an error in time is passed on, and no timer keeps the process', async () => {
  const inTime = createDeadline(60_000, () => new Error('late'));
  assert.equal(await inTime(Promise.resolve('done')), 'done');
  await assert.rejects(inTime(Promise.reject(new Error('broken'))), { message: 'broken' });
});
