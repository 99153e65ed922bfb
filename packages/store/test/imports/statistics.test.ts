/**
 * Imports take about the same time with old statistics as with current ones. Without autovacuum, and after
 * `analyze` has seen one partner and one customer only, Postgres estimates one row for any other.
 */
import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import {
  connectTo,
  emptyDatabaseOn,
  type PostgresServer,
  startPostgres,
  wholeFile,
  withoutOwnServers,
} from '../../../testkit/servers/postgres.ts';
import { fillDatabase } from '../../../testkit/service/database.ts';
import { parseDatabaseUrl } from '../../src/address.ts';
import { openStore } from '../../src/engines.ts';
import type { ImportBegin, ImportRow } from '../../src/port.ts';
import { manyRows, type RecordKind, recordKinds } from '../suite/newest.ts';
import { createPartners, writeRows } from '../suite/records.ts';

const lines = 2_000;
const { rowsOf, deletionsOf } = manyRows(lines);

/** Content that differs from that of the first rows. */
const changeOf = (kind: RecordKind): ImportRow => (kind === 'brands' ? { name: 'Changed' } : { amount: 2 });

/** What a second import does with the records of the owner. */
const imports: Readonly<
  Record<string, (kind: RecordKind, owner: string) => readonly [ImportRow[], ImportBegin]>
> = {
  changes: (kind, owner) => [rowsOf(kind, owner, 2, changeOf(kind)), {}],
  'repeated ids': (kind, owner) => [[...rowsOf(kind, owner, 2), ...rowsOf(kind, owner, 3)], {}],
  'late lines after deletions': (kind, owner) => [rowsOf(kind, owner, 1, changeOf(kind)), {}],
  overwrites: (kind, owner) => [rowsOf(kind, owner, 1, changeOf(kind)), { overwrites: true }],
  deletions: (kind, owner) => [deletionsOf(kind, owner, 9), {}],
};

/** One server for all tests of this file. */
let server: Promise<PostgresServer> | undefined;

/** A store on a database of its own. */
async function openOnServer(t: TestContext, name: string) {
  server ??= startPostgres(wholeFile, { autovacuum: 'off' });
  await emptyDatabaseOn(await server, name);
  const url = (await server).url(name);
  await fillDatabase(url, async (store) => createPartners(store, 'a', 'b'));
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox');
  t.after(() => store.close());
  const client = await connectTo(t, url);
  /** Rows that statements read in the tables of a kind so far. Sessions report them when they end. */
  const readRows = async (kind: RecordKind): Promise<number> => {
    const { rows } = await client.query(
      `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint as read,
        (select sum(idx_tup_read) from pg_stat_user_indexes where relname = any ($1))::bigint as index
      from pg_stat_user_tables where relname = any ($1)`,
      [[kind, `deleted_${kind}`, 'erased_customers']],
    );
    return Number(rows[0].read) + Number(rows[0].index);
  };
  return { store, client, readRows };
}

const skip = withoutOwnServers();

for (const kind of recordKinds) {
  test(`an import of ${kind} reads a few rows per line with old statistics`, { skip }, async (t) => {
    const { store, client, readRows } = await openOnServer(t, `${kind}_lines`);
    await writeRows(store, kind, rowsOf(kind, 'a', 1), { pace: 'fast' });
    await writeRows(store, kind, deletionsOf(kind, 'gone', 1).slice(0, 1));
    await client.query('analyze');
    await writeRows(store, kind, rowsOf(kind, 'b', 1), { pace: 'fast' });
    const undoFile = openSync(join(temporaryFolder(t), 'undo'), 'w');
    t.after(() => closeSync(undoFile));
    for (const [name, given] of Object.entries(imports)) {
      for (const withUndo of [false, true]) {
        const [rows, options] = given(kind, 'b');
        const before = await readRows(kind);
        await writeRows(store, kind, rows, { ...options, ...(withUndo && { undoFile }) });
        const read = (await readRows(kind)) - before;
        assert.ok(read < rows.length * 15, `${name}: ${read} rows for ${rows.length} lines`);
      }
    }
  });

  test(`--delete-missing of ${kind} takes about as long with old statistics`, { skip }, async (t) => {
    const { store, client } = await openOnServer(t, `${kind}_missing`);
    const timed = async (owner: string) => {
      const startedMs = performance.now();
      const run = await store.beginImport(kind, { pace: 'fast', deletesMissing: true });
      await run.stage(rowsOf(kind, owner, 2).slice(0, lines / 2));
      await run.countMissing();
      const { deleted } = await run.write({ mode: 'try' });
      await run.end();
      assert.ok(deleted >= lines / 2);
      return performance.now() - startedMs;
    };
    await writeRows(store, kind, rowsOf(kind, 'a', 1), { pace: 'fast' });
    await client.query('analyze');
    await writeRows(store, kind, rowsOf(kind, 'b', 1), { pace: 'fast' });
    const oldMs = await timed('b');
    await client.query('analyze');
    const currentMs = await timed('b');
    // In a loop over all pairs it would take hundreds of times as long.
    assert.ok(oldMs < 20 * currentMs, `${oldMs} ms with old statistics, ${currentMs} ms with current ones`);
  });
}
