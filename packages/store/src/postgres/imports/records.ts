import { storeBounds } from '@partner-network/common/bounds/store';
import { rejectErased } from '../../sql/consent.ts';
import { type UndoFile, undoLines } from '../../sql/exports.ts';
import { importColumns, type RecordKind, sameId } from '../../sql/imports.ts';
import { countOutcomes, type Dialect, outcomesOf, RecordStatements } from '../../sql/record-statements.ts';
import { fetched, type KindWrites, lookUp, type Query, types } from './kind-writes.ts';
import { type LocalCopies, readableOn } from './local-copies.ts';

const dialectOn = (copies: LocalCopies | undefined): Dialect => ({
  greatest: 'greatest',
  newest: (key) => `
    select distinct on (${key}) * from staged
    order by ${key}, coalesce(deleted_at, updated_at) desc, deleted_at is null, line desc`,
  daysAgo: (days) => `now() - interval '${days} days'`,
  stored: (column) => (column === 'metadata' ? 'metadata::json' : column),
  joined: lookUp,
  readable: readableOn(copies),
});

/**
 * Writes brands or balances from the table `staged`. The table `decided` says what happens to each record.
 * No statement depends on the statistics of a table, which may be old: stored records are looked up one by
 * one by their primary key, or whole tables are compared without nested loops.
 */
export function createRecordWrites(
  kind: RecordKind,
  query: Query,
  copies: LocalCopies | undefined,
): KindWrites {
  const sql = new RecordStatements(kind, dialectOn(copies));
  const columns = sql.decidedColumns().map((name) => `${name} ${types[name] ?? 'text collate "C"'}`);

  async function writeUndo(undo: UndoFile, selection: string): Promise<void> {
    const size = kind === 'brands' ? storeBounds.exportBatchBrands : storeBounds.exportBatchRecords;
    for await (const rows of fetched(query, selection, Number.POSITIVE_INFINITY, size)) {
      undo.write(undoLines(kind, rows));
    }
  }

  return {
    tables: [`decided (${columns.join(', ')})`],
    countMissing: async () => {
      await query('set enable_nestloop = off');
      const { missing, stored, share } = (await query(sql.countMissing())).rows[0];
      await query('reset enable_nestloop');
      return { missing: Number(missing), stored: Number(stored), share: Number(share) };
    },
    deleteMissing: async (at, undo) => {
      const { key } = importColumns[kind];
      const isMissing = sql.isMissing(at);
      await query('set local enable_nestloop = off');
      if (undo !== undefined) await writeUndo(undo, sql.selectStored(isMissing));
      const { rows } = await query(`
        with gone as (
          delete from ${kind} where ${isMissing} returning ${key}
        ), remembered as (
          ${sql.remember(`select ${key}, '${at}'::timestamptz, now() from gone`)}
        ) select count(*) from gone`);
      await query(`${sql.forgetOld()}; set local enable_nestloop to default`);
      return Number(rows[0].count);
    },
    write: async (staged) => {
      const { rows, hasGone, hasDeletions, overwrites, undo } = staged;
      if (hasGone) await copies?.bringGone(staged);
      // Brands have no customers.
      const isErasable = hasGone && kind === 'balances';
      const rejected = isErasable ? rejectErased((await query(sql.dropUntimed())).rows) : [];
      const now = new Date().toISOString();
      await copies?.bringStored(staged);
      // Postgres notices by itself that lines are sorted. To say so saved nothing in a million lines.
      const deciding = sql.decide({ overwrites, isSorted: false, hasGone }, now);
      const counting = [await query(`${deciding}; ${countOutcomes}`)].flat().at(-1)!;
      const { written, deleted, stale } = outcomesOf(counting.rows, rows - rejected.length);
      if (undo !== undefined) await writeUndo(undo, sql.selectUndo());
      // Each statement is a round trip, so those without rows are left out.
      if (deleted > 0) await query(copies?.deleteDecided(staged, deleted) ?? deleteDecided(kind));
      const kept = written > 0 ? await count(query, sql.writeDecided(overwrites)) : 0;
      if (hasDeletions) await query(`${sql.rememberDecided(now)}; ${sql.forgetOld()}`);
      return { written: kept, deleted, stale: stale + written - kept, rejected };
    },
  };
}

/** Runs a statement, and counts the rows that it changed: Citus reports all rows that it sent to nodes. */
async function count(query: Query, statement: string): Promise<number> {
  const counting = `with changed as (${statement} returning 1) select count(*) from changed`;
  return Number((await query(counting)).rows[0].count);
}

function deleteDecided(kind: RecordKind): string {
  const place = `(select t.ctid from ${kind} t where ${sameId(kind, 't', 'decided')})`;
  return `
    delete from ${kind} where ctid = any (array(select ${place} from decided where outcome = 'deleted'))`;
}
