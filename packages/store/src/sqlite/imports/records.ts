import type { DatabaseSync } from 'node:sqlite';
import { storeBounds } from '@partner-network/common/bounds/store';
import { toTime } from '@partner-network/common/times';
import type { Missing } from '../../port.ts';
import { rejectErased } from '../../sql/consent.ts';
import { type UndoFile, undoLines } from '../../sql/exports.ts';
import { importColumns, type RecordKind, hasGone as selectHasGone } from '../../sql/imports.ts';
import { countOutcomes, type Dialect, outcomesOf, RecordStatements } from '../../sql/record-statements.ts';
import type { KindWrites } from './kind-writes.ts';

/**
 * The greatest rank of a record's lines: by time, a deletion before an update, then the line further down.
 * With one max(), the other columns come from its row. A window function takes half as long again.
 */
const newestRank = `max(coalesce(deleted_at || '~', updated_at) || (1000000000000 + line))`;

/** SQLite looks up each row of a left join by the primary key. */
export const dialect: Dialect = {
  greatest: 'max',
  newest: (key) => `select *, ${newestRank} from staged group by ${key}`,
  daysAgo: (days) => `'${toTime(Date.now() - days * 86_400_000)}'`,
  stored: (column) => column,
  joined: (table, alias, on) => `left join ${table} ${alias} on ${on}`,
  readable: (table) => table,
};

/** Writes the staged lines that count. No record is stored. A subquery would sort them twice. */
function writeFirst(kind: RecordKind): string {
  const { all, key } = importColumns[kind];
  const columns = all.join(', ');
  return `insert into ${kind} (${columns}) select ${columns} from staged
  group by ${key} having ${newestRank} is not null`;
}

/** Where records are written, and how. */
interface Target {
  readonly db: DatabaseSync;
  readonly kind: RecordKind;
  readonly overwrites: boolean;
  readonly undo: UndoFile | undefined;
}

/** Writes brands or balances. The table `decided` says what happens to each record. */
export function createRecordWrites(target: Target, startedAt: string): KindWrites {
  const { db, kind, overwrites } = target;
  const { key } = importColumns[kind];
  const sql = new RecordStatements(kind, dialect);
  const hasAnyGone = () => db.prepare(selectHasGone(kind)).get()!.has_gone === 1;
  const isEmpty = () => !hasAnyGone() && db.prepare(`select 1 from ${kind} limit 1`).get() === undefined;
  const indexStaged = () => db.exec(`create index if not exists temp.staged_ids on staged (${key})`);

  return {
    // Rows are decided in the order of the key, and with it written without sorting them again.
    tables: [`decided (${sql.decidedColumns().join(', ')}, primary key (${key})) without rowid`],
    isEmpty,
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
      return Number(db.prepare(`delete from ${kind} where ${missing}`).run().changes);
    },
    merge: ({ isSorted, hasDeletions }) => {
      const { lines } = db.prepare('select count(*) as lines from staged').get()!;
      // Nothing is stored that lines are compared with: a first load out of order takes a quarter less.
      if (!hasDeletions && target.undo === undefined && isEmpty()) {
        const written = Number(db.prepare(writeFirst(kind)).run().changes);
        return { written, deleted: 0, stale: Number(lines) - written, rejected: [] };
      }
      const hasGone = hasAnyGone();
      // Brands have no customers.
      const erased = hasGone && kind === 'balances' ? db.prepare(sql.dropUntimed()).all() : [];
      // Not when the import began: a feed may run for months.
      const now = toTime(Date.now());
      db.exec('delete from decided');
      db.exec(sql.decide({ overwrites, isSorted, hasGone }, now));
      writeUndo(target, sql.selectUndo());
      db.exec(sql.writeDecided(overwrites));
      if (hasDeletions) {
        const deleted = `select ${key} from decided where outcome = 'deleted'`;
        db.exec(`delete from ${kind} where (${key}) in (${deleted})`);
        db.exec(sql.rememberDecided(now));
        db.exec(sql.forgetOld());
      }
      const outcomes = outcomesOf(db.prepare(countOutcomes).all(), Number(lines) - erased.length);
      return { ...outcomes, rejected: rejectErased(erased) };
    },
  };
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
