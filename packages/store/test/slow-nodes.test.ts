import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { postgresBounds } from '../../common/src/bounds/store.ts';
import { StoreUnavailable } from '../src/port.ts';
import { limitSlowNodes } from '../src/postgres/distribution/slow-nodes.ts';

/** Two connections for a slow node. By default, the first letter of a value names its node. */
function startReads(t: TestContext, nodeOf = (value: string) => value[0]) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const counts = { asked: 0 };
  const onNode = limitSlowNodes(async (_text, _table, values) => {
    counts.asked += 1;
    return [{ node: nodeOf(JSON.parse(String(values))[0]) }];
  }, 2);
  const read = (value: string, hasConnection = true) => {
    const { promise, ...answer } = Promise.withResolvers<string>();
    const reading = (begun: () => void) => {
      if (hasConnection) begun();
      return promise;
    };
    return { ...answer, result: onNode('brands', value, reading) };
  };
  return {
    counts,
    read,
    /** A read whose node answers at once. */
    quick: (value: string) => onNode('brands', value, async () => value),
    /** Waits until a node without an answer is slow. */
    wait: () => {
      t.mock.timers.tick(postgresBounds.slowNodeMs);
      return turn();
    },
  };
}

test('a node that does not answer gets a part of the connections, and other nodes get all', async (t) => {
  const { read, quick, wait } = startReads(t);
  const first = read('a1');
  await wait();
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
  first.resolve('a1');
  third.resolve('a4');
  assert.deepEqual(await Promise.all([first.result, third.result]), ['a1', 'a4']);
});

test('a read that waits for a connection does not make its node slow', async (t) => {
  const { counts, read, quick, wait } = startReads(t);
  for (const value of ['a1', 'a2']) read(value, false);
  await wait();
  assert.equal(await quick('a3'), 'a3');
  assert.equal(counts.asked, 0);
});

test('a node that answers again gets all connections, and no read asks for its node', async (t) => {
  const { counts, read, quick, wait } = startReads(t);
  const [first] = ['a1', 'a2'].map((value) => read(value));
  await wait();
  await assert.rejects(quick('a3'), StoreUnavailable);
  first!.resolve('a1');
  await first!.result;
  counts.asked = 0;
  assert.equal(await quick('a4'), 'a4');
  assert.equal(counts.asked, 0);
});

test('if the coordinator does not say which node has the rows, nothing is limited', async (t) => {
  const { counts, read, quick, wait } = startReads(t, () => assert.fail('no answer'));
  for (const value of ['a1', 'a2', 'a3']) read(value);
  await wait();
  assert.equal(counts.asked, 3);
  assert.equal(await quick('a4'), 'a4');
});
