/** Imports take about as long on nodes with old statistics, which know one partner and one customer only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDatabaseUrl, toDistribute } from '../../../packages/store/src/address.ts';
import { openStore } from '../../../packages/store/src/engines.ts';
import type { ImportBegin, ImportRow, Store } from '../../../packages/store/src/port.ts';
import { manyRows, type RecordKind, recordKinds } from '../../../packages/store/test/suite/newest.ts';
import { createPartners, writeRows } from '../../../packages/store/test/suite/records.ts';
import { startCluster } from '../../../packages/testkit/citus/cluster.ts';
import { connectTo, wholeFile } from '../../../packages/testkit/servers/postgres.ts';

const lines = 10_000;
const { rowsOf, deletionsOf } = manyRows(lines);

/** The rows of each import, its options, and the numbers of lines with an outcome. */
const imports: Readonly<Record<string, (kind: RecordKind) => readonly [ImportRow[], ImportBegin, object]>> = {
  'older lines': (kind) => [rowsOf(kind, 'other', 1), {}, { stale: lines }],
  overwrites: (kind) => [rowsOf(kind, 'other', 1), { overwrites: true }, { unchanged: lines }],
  'repeated ids': (kind) => {
    const rows = [...rowsOf(kind, 'other', 3), ...rowsOf(kind, 'other', 4)];
    return [rows, {}, { written: lines, stale: lines }];
  },
  deletions: (kind) => [deletionsOf(kind, 'other', 9), {}, { deleted: lines }],
};

/** Tries each import. Resolves to their times in milliseconds. */
async function timesOf(store: Store, kind: RecordKind): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (const [name, given] of Object.entries(imports)) {
    const [rows, options, expected] = given(kind);
    const startMs = performance.now();
    const run = await store.beginImport(kind, options);
    await run.stage(rows);
    const { rejected: _, ...counts } = await run.write({ mode: 'try' });
    await run.end();
    times.set(name, performance.now() - startMs);
    assert.deepEqual(counts, { written: 0, unchanged: 0, stale: 0, deleted: 0, ...expected }, name);
  }
  return times;
}

test('an import takes about as long with old statistics as with current ones', async (t) => {
  // One shard has the records of all partners and customers.
  const { createDatabase } = await startCluster(wholeFile, { autovacuum: 'off', 'citus.shard_count': '1' });
  const url = await createDatabase('network');
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox', toDistribute);
  t.after(() => store.close());
  const client = await connectTo(t, url);
  await createPartners(store, 'known', 'other');
  for (const kind of recordKinds) await writeRows(store, kind, rowsOf(kind, 'known', 2), { pace: 'fast' });
  await client.query('analyze');
  for (const kind of recordKinds) await writeRows(store, kind, rowsOf(kind, 'other', 2), { pace: 'fast' });
  const old = new Map<RecordKind, Map<string, number>>();
  for (const kind of recordKinds) old.set(kind, await timesOf(store, kind));
  await client.query('analyze');
  for (const kind of recordKinds) {
    for (const [name, currentMs] of await timesOf(store, kind)) {
      const oldMs = old.get(kind)!.get(name)!;
      // In a loop over all pairs it would take ten times as long.
      assert.ok(oldMs < 4 * currentMs, `${name} of ${kind}: ${oldMs} ms, then ${currentMs} ms`);
    }
  }
});
