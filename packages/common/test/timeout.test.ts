import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWaitQueue } from '../src/timeout.ts';

const late = () => new Error('late');

test('values and failures go to callers in the order in which they came', async () => {
  const queue = createWaitQueue<string>(60_000, late);
  const callers = [queue.wait(), queue.wait(), queue.wait()];
  assert.equal(queue.length, 3);
  assert.ok(queue.give('a'));
  queue.fail(new Error('broken'));
  assert.ok(queue.give('c'));
  const outcomes = await Promise.allSettled(callers);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
    ['a', 'broken', 'c'],
  );
  assert.equal(queue.give('nobody'), false);
});

test('a caller that waited too long is refused and gets no later value', async () => {
  const queue = createWaitQueue<string>(5, late);
  await assert.rejects(queue.wait(), { message: 'late' });
  assert.equal(queue.length, 0);
  const next = queue.wait();
  queue.give('for the next caller');
  assert.equal(await next, 'for the next caller');
});
