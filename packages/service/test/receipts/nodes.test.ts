/** Receipts that are spread over the nodes of a Citus cluster, some of which do not answer. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { receiptsBounds } from '../../../common/src/bounds/service.ts';
import { PartlyWritten, type Receipt } from '../../../store/src/port.ts';
import type { Pool } from '../../../store/src/postgres/connections/pool.ts';
import { createReceipts } from '../../../store/src/postgres/receipts.ts';
import { receiptAt } from '../../../store/test/suite/receipts.ts';

/** A pool of two nodes. The first letter of a customer names the node. */
function startNodes(t: TestContext) {
  const scene = { nowMs: 1_000, down: '', tried: [] as string[] };
  t.mock.method(performance, 'now', () => scene.nowMs);
  const query = async ({ name }: { name?: string }, values: readonly unknown[]) => {
    const records: (Receipt & string)[] = JSON.parse(String(values.at(-1)));
    if (name === undefined) return records.map((value) => ({ value, node: value[0] }));
    const nodes = [...new Set(records.map(({ customer_id }) => customer_id![0]!))].join('');
    scene.tried.push(nodes);
    if (scene.down !== '' && nodes.includes(scene.down)) throw new Error('frozen');
    return [];
  };
  const rows = (_text: string, ...values: unknown[]) => query({}, values);
  const { recordReceipts } = createReceipts({ query, rows } as unknown as Pool, true);
  const receipts = ['a1', 'b1', 'a2'].map((customer_id, index) => ({ ...receiptAt(index), customer_id }));
  return { scene, receipts, record: () => recordReceipts(receipts) };
}

test('a frozen node costs two attempts, and then one in a second', async (t) => {
  const { scene, receipts, record } = startNodes(t);
  scene.down = 'a';
  const isPartly = (error: unknown) => {
    assert.ok(error instanceof PartlyWritten && (error.cause as Error).message === 'frozen');
    assert.deepEqual(error.rest, [receipts[0], receipts[2]]);
    return true;
  };
  await assert.rejects(record(), isPartly);
  assert.deepEqual(scene.tried.splice(0), ['ab', 'a', 'b']);
  await assert.rejects(record(), isPartly);
  assert.deepEqual(scene.tried.splice(0), ['b']);
  scene.nowMs += receiptsBounds.nodeRestMs;
  await assert.rejects(record(), isPartly);
  assert.deepEqual(scene.tried.splice(0), ['a', 'b']);
  scene.nowMs += receiptsBounds.nodeRestMs;
  scene.down = '';
  await record();
  await record();
  assert.deepEqual(scene.tried, ['a', 'b', 'ab']);
});
