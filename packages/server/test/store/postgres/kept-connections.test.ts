/** Which connections are kept, and who gets them: without a database, for that is in its pool's tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { createKeptConnections } from '../../../src/store/postgres/connections/kept-connections.ts';

/** So many connections of a pool that writes down what goes back to it. */
function scene(most: number) {
  const released: [pg.PoolClient, boolean][] = [];
  const refusals: Error[] = [];
  const open = async () => {
    const refused = refusals.shift();
    if (refused !== undefined) throw refused;
    return {} as pg.PoolClient;
  };
  const kept = createKeptConnections(most, open, (client, isSpent) => released.push([client, isSpent]));
  return { kept, released, refusals };
}

test('the same one is taken again, and no more are opened than there may be', async () => {
  const { kept, released } = scene(1);
  const client = (await kept.take())!;
  assert.equal(kept.take(), undefined);
  kept.give(client, false);
  assert.equal(kept.take(), client);
  assert.deepEqual(released, []);
});

test('those who wait get it in the order in which they came', async () => {
  const { kept } = scene(1);
  const client = (await kept.take())!;
  const [first, second] = [kept.wait(), kept.wait()];
  assert.equal(kept.waiting(), 2);
  kept.give(client, false);
  assert.equal(await first.free, client);
  assert.equal(kept.waiting(), 1);
  kept.give(client, false);
  assert.equal(await second.free, client);
});

test('one that is spent goes, and who waits gets another', async () => {
  const { kept, released } = scene(1);
  const client = (await kept.take())!;
  const { free } = kept.wait();
  kept.give(client, true);
  assert.notEqual(await free, client);
  assert.deepEqual(released, [[client, true]]);
});

test('where none can be opened, the next who waits is told in turn', async () => {
  const { kept, refusals } = scene(1);
  refusals.push(new Error('first'), new Error('second'));
  const first = kept.take() as Promise<pg.PoolClient>;
  const { free } = kept.wait();
  await assert.rejects(first, { message: 'first' });
  await assert.rejects(free, { message: 'second' });
  assert.ok(await kept.take());
});

test('what comes for one who has given up goes to the next', async () => {
  const { kept } = scene(1);
  const client = (await kept.take())!;
  const late = kept.wait();
  kept.give(client, false);
  late.giveUp();
  await late.free;
  assert.equal(kept.take(), client);
});

test('the oldest goes back when its turn comes: at once, or when its work is done', async () => {
  const { kept, released } = scene(2);
  const [older, newer] = [(await kept.take())!, (await kept.take())!];
  kept.renewOldest();
  assert.deepEqual(released, []);
  kept.give(older, false);
  kept.give(newer, false);
  assert.deepEqual(released, [[older, false]]);
  kept.renewOldest();
  assert.deepEqual(released[1], [newer, false]);
  kept.renewOldest();
  assert.equal(released.length, 2);
});

test('one that ended while it was free is not given out, and none is kept after the end', async () => {
  const { kept, released } = scene(2);
  const [ended, other] = [(await kept.take())!, (await kept.take())!];
  kept.drop(other);
  assert.deepEqual(released, []);
  kept.give(ended, false);
  kept.drop(ended);
  assert.deepEqual(released, [[ended, true]]);
  kept.close();
  kept.give(other, false);
  assert.deepEqual(released[1], [other, false]);
});
