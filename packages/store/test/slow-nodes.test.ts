import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { postgresBounds } from '../../common/src/bounds/store.ts';
import { StoreUnavailable } from '../src/port.ts';
import { limitSlowNodes } from '../src/postgres/distribution/slow-nodes.ts';

/** Two connections for a slow node. The first letter of a value names its node. */
function startReads() {
  mock.timers.enable({ apis: ['setTimeout'] });
  const counts = { asked: 0 };
  const onNode = limitSlowNodes(async (_text, _table, values) => {
    counts.asked += 1;
    return [{ node: JSON.parse(String(values))[0][0] }];
  }, 2);
  const read = (value: string) => {
    const { promise, ...answer } = Promise.withResolvers<string>();
    const reading = (begun: () => void) => {
      begun();
      return promise;
    };
    return { ...answer, result: onNode('brands', value, reading) };
  };
  return {
    counts,
    read,
    /** A read that has no connection yet. */
    waiting: (value: string) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      return { resolve, result: onNode('brands', value, () => promise) };
    },
    /** A read whose node answers at once. */
    quick: (value: string) => onNode('brands', value, async () => value),
    /** Reads that get no answer for so long that their node is slow. */
    slow: async (...values: string[]) => {
      const reads = values.map(read);
      mock.timers.tick(postgresBounds.slowNodeMs);
      await turn();
      return reads;
    },
  };
}

test('a node that does not answer gets a part of the connections, and other nodes get all', async (t) => {
  t.after(() => mock.timers.reset());
  const { read, quick, slow } = startReads();
  const [first] = await slow('a1');
  const second = read('a2');
  await turn();
  await assert.rejects(quick('a3'), StoreUnavailable);
  assert.equal(await quick('b1'), 'b1');
  // A failed read frees its place, and its node is still slow.
  second.reject(new StoreUnavailable('The statement takes too long.'));
  await assert.rejects(second.result, StoreUnavailable);
  const third = read('a4');
  await turn();
  await assert.rejects(quick('a5'), StoreUnavailable);
  first!.resolve('a1');
  third.resolve('a4');
  assert.deepEqual(await Promise.all([first!.result, third.result]), ['a1', 'a4']);
});

test('a read that waits for a connection does not make its node slow', async (t) => {
  t.after(() => mock.timers.reset());
  const { counts, quick, waiting } = startReads();
  const reads = ['a1', 'a2'].map(waiting);
  mock.timers.tick(postgresBounds.slowNodeMs);
  await turn();
  assert.equal(await quick('a3'), 'a3');
  assert.equal(counts.asked, 0);
  for (const { resolve } of reads) resolve('read');
  await Promise.all(reads.map(({ result }) => result));
});

test('a node that answers again gets all connections, and no read asks for its node', async (t) => {
  t.after(() => mock.timers.reset());
  const { counts, quick, slow } = startReads();
  const [first, second] = await slow('a1', 'a2');
  await assert.rejects(quick('a3'), StoreUnavailable);
  first!.resolve('a1');
  await first!.result;
  counts.asked = 0;
  assert.equal(await quick('a4'), 'a4');
  assert.equal(counts.asked, 0);
  second!.resolve('a2');
  await second!.result;
});

test('if the coordinator does not say which node has the rows, nothing is limited', async (t) => {
  t.after(() => mock.timers.reset());
  mock.timers.enable({ apis: ['setTimeout'] });
  const onNode = limitSlowNodes(() => Promise.reject(new Error('no answer')), 0);
  const { promise, resolve } = Promise.withResolvers<string>();
  const slow = onNode('balances', 'a', (begun) => {
    begun();
    return promise;
  });
  mock.timers.tick(postgresBounds.slowNodeMs);
  await turn();
  assert.equal(await onNode('balances', 'a', async () => 'read'), 'read');
  resolve('late');
  assert.equal(await slow, 'late');
});
