import type { DatabaseSync } from 'node:sqlite';
import { storeBounds } from '@partner-network/common/bounds/store';
import { toTime } from '@partner-network/common/times';
import type { Missing } from '../../port.ts';
import { rejectErased } from '../../sql/consent.ts';
import { type UndoFile, undoLines } from '../../sql/exports.ts';
import { importColumns, type RecordKind, hasGone as selectHasGone } from '../../sql/imports.ts';
import { countOutcomes, type Dialect, outcomesOf, RecordStatements } from '../../sql/record-statements.ts';
import type { KindWrites, Tally } from './kind-writes.ts';

/** SQLite looks up each row of a left join by the primary key. */
export const dialect: Dialect = {
  greatest: 'max',
  countStale: 'count_stale()',
  daysAgo: (days) => `'${toTime(Date.now() - days * 86_400_000)}'`,
  stored: (column) => column,
  joined: (table, alias, on) => `left join ${table} ${alias} on ${on}`,
  readable: (table) => table,
};

/** Where records are written, and how. */
interface Target {
  readonly db: DatabaseSync;
  readonly kind: RecordKind;
  readonly overwrites: boolean;
  readonly undo: UndoFile | undefined;
}

/**
 * Writes brands or balances, in one of two ways:
 *
 *     upsert    each id has one line, and none deletes
 *     decide    any other lines: the table `decided` says what happens to each record
 */
export function createRecordWrites(target: Target, startedAt: string, tally: Tally): KindWrites {
  const { db, kind, overwrites } = target;
  const { key } = importColumns[kind];
  const sql = new RecordStatements(kind, dialect);
  // Called by the upserts for each row that is older than the stored one.
  db.function('count_stale', () => {
    tally.stale += 1;
    return 0;
  });
  /** Runs a statement, and returns how many rows it changed. */
  const change = (statement: string) => Number(db.prepare(statement).run().changes);
  const hasAnyGone = () => db.prepare(selectHasGone(kind)).get()!.has_gone === 1;
  const indexStaged = () => db.exec(`create index if not exists temp.staged_ids on staged (${key})`);

  return {
    tables: [`decided (${sql.decidedColumns().join(', ')})`],
    isEmpty: () => !hasAnyGone() && db.prepare(`select 1 from ${kind} limit 1`).get() === undefined,
    countMissing: () => {
      indexStaged();
      return { ...(db.prepare(sql.countMissing()).get() as Missing) };
    },
    deleteMissing: () => {
      indexStaged();
      const missing = sql.isMissing(startedAt);
      const times = `'${startedAt}', '${toTime(Date.now())}'`;
      writeUndo(target, sql.selectStored(missing));
      db.exec(sql.remember(`select ${key}, ${times} from ${kind} where ${missing}`));
      db.exec(sql.forgetOld());
      tally.missing += change(`delete from ${kind} where ${missing}`);
    },
    merge: ({ isSorted, hasDeletions, hasUntimed }) => {
      const hasGone = hasAnyGone();
      // Brands have no customers.
      const erased = hasGone && kind === 'balances' ? db.prepare(sql.dropUntimed()).all() : [];
      const hasRepeats = !isSorted && db.prepare(sql.selectRepeated()).get() !== undefined;
      if (hasRepeats || hasDeletions || overwrites) {
        const outcomes = decideAll(target, sql, hasRepeats, hasGone);
        for (const name of ['written', 'deleted', 'stale'] as const) tally[name] += outcomes[name];
      } else {
        if (hasGone) tally.stale += change(sql.dropGone());
        writeUndo(target, sql.selectUndo('staged', isSorted));
        tally.written += change(sql.upsertStaged(true, isSorted));
        if (hasUntimed) tally.written += change(sql.upsertStaged(false, isSorted));
      }
      return rejectErased(erased);
    },
  };
}

function decideAll(target: Target, sql: RecordStatements, hasRepeats: boolean, hasGone: boolean) {
  const { db, kind } = target;
  const { key } = importColumns[kind];
  // Not when the import began: a feed may run for months.
  const now = toTime(Date.now());
  db.exec('delete from decided');
  db.exec(sql.decide({ ...target, hasRepeats, hasGone }, now));
  writeUndo(target, sql.selectUndo('decided', false));
  db.exec(`delete from ${kind} where (${key}) in (select ${key} from decided where outcome = 'deleted')`);
  db.exec(sql.writeDecided());
  db.exec(sql.rememberDecided(now));
  db.exec(sql.forgetOld());
  const { lines } = db.prepare('select count(*) as lines from staged').get()!;
  return outcomesOf(db.prepare(countOutcomes).all(), Number(lines));
}

/** Writes what is selected into the undo file, if there is one. */
function writeUndo({ db, kind, undo }: Target, selection: string): void {
  if (undo === undefined) return;
  let rows: Record<string, unknown>[] = [];
  for (const row of db.prepare(selection).iterate()) {
    if (rows.push(row) < storeBounds.exportBatchBrands) continue;
    undo.write(undoLines(kind, rows));
    rows = [];
  }
  undo.write(undoLines(kind, rows));
}
