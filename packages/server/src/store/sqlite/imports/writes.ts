import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { ImportCounts, ImportKind, ImportPace } from '../../port.ts';
import { importColumns } from '../../sql/import-columns.ts';
import { transaction, translated } from '../engine.ts';

/** What is bound to the columns of some rows, one row after the other. */
export type RowValues = readonly SQLInputValue[];

export interface StagedRows {
  readonly values: RowValues;
  /** Whether they, and all before, came in the order of the table. */
  readonly isSorted: boolean;
}

export interface ImportWrites {
  stage(rows: StagedRows): void;
  write(mode: 'keep' | 'try'): ImportCounts;
  end(): void;
}

/** A statement that takes many rows takes half the time of many that take one. */
const rowsOfStatement = 50;

/** For pages, and for sorting: with the usual 2 MB, a million rows are sorted in a thousand pieces. */
const cacheKibibytes = 16 * 1024;

/**
 * Rows wait in a temporary table, which belongs to this connection alone, and are written in one transaction
 * at the end: an import that is fed slowly does not keep others, such as a revocation, from writing. One that
 * is not writes its rows at once for as long as they are sorted, so that each is written once; from the first
 * that is not, the rest waits.
 */
export function createImportWrites(db: DatabaseSync, kind: ImportKind, pace: ImportPace): ImportWrites {
  const { all } = importColumns[kind];
  db.exec(`pragma cache_size = -${cacheKibibytes}`);
  transaction(db, 'deferred', () => db.exec(`create temp table staged (${all.join(', ')})`));
  const stageRows = createInsert(db, kind, (rows) => `insert into staged values ${rows}`);
  const placeRows = createInsert(db, kind, (rows) => upsert(kind, `values ${rows}`));
  /** How many were written at once, how many of them changed something, and how many wait. */
  let placed = 0;
  let changed = 0;
  let staged = 0;
  let isAllSorted = true;

  function begin(): void {
    if (!db.isTransaction) db.exec('begin immediate');
  }

  return {
    stage: ({ values, isSorted }) =>
      attempt(db, () => {
        isAllSorted = isSorted;
        if (pace === 'fast' && isSorted) {
          begin();
          changed += placeRows(values);
          placed += values.length / all.length;
        } else if (db.isTransaction) staged += stageRows(values);
        else staged += transaction(db, 'deferred', () => stageRows(values));
      }),
    write: (mode) =>
      attempt(db, () => {
        begin();
        if (staged > 0)
          changed += Number(db.prepare(upsert(kind, stagedRows(kind, isAllSorted))).run().changes);
        const counts = { written: changed, unchanged: placed + staged - changed };
        if (mode === 'keep') db.exec('delete from staged; commit');
        else db.exec('rollback');
        // What waited outside of the transaction is still there after a trial.
        if (mode === 'keep' || placed > 0) staged = 0;
        placed = 0;
        changed = 0;
        return counts;
      }),
    end: () => {
      try {
        if (db.isTransaction) db.exec('rollback');
        db.exec('drop table staged');
      } catch {
        // On a full disk not even this works; the table goes with the connection.
      }
    },
  };
}

function attempt<Result>(db: DatabaseSync, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    // Some failures, such as a full disk, have rolled back already.
    if (db.isTransaction) db.exec('rollback');
    throw translated(error);
  }
}

/** Runs a statement over rows, many at a time, and says how many it changed. */
function createInsert(
  db: DatabaseSync,
  kind: ImportKind,
  statementOf: (rows: string) => string,
): (values: RowValues) => number {
  const columns = importColumns[kind].all.length;
  const row = `(${Array(columns).fill('?').join(', ')})`;
  const one = db.prepare(statementOf(row));
  const many = db.prepare(statementOf(Array(rowsOfStatement).fill(row).join()));
  const valuesOfMany = columns * rowsOfStatement;
  return (values) => {
    let changes = 0;
    let start = 0;
    for (; start + valuesOfMany <= values.length; start += valuesOfMany)
      changes += Number(many.run(...values.slice(start, start + valuesOfMany)).changes);
    for (; start < values.length; start += columns)
      changes += Number(one.run(...values.slice(start, start + columns)).changes);
    return changes;
  };
}

/**
 * In the order of the table, in which a million rows take a third of the time that they take in any other;
 * and lines with one id as they came, so that the later wins. SQLite's grammar needs the "where true".
 */
function stagedRows(kind: ImportKind, isSorted: boolean): string {
  const order = isSorted ? ['rowid'] : [...importColumns[kind].identity, 'rowid'];
  return `select * from staged where true order by ${order.join(', ')}`;
}

/** Replaces a record whole but for its creation time, and touches nothing when its content is the same. */
function upsert(kind: ImportKind, rows: string): string {
  const { identity, content, all } = importColumns[kind];
  const updates = [...content, 'updated_at'].map((column) => `${column} = excluded.${column}`);
  const stored = content.map((column) => `${kind}.${column}`);
  const given = content.map((column) => `excluded.${column}`);
  return `
    insert into ${kind} (${all.join(', ')})
    ${rows}
    on conflict (${identity.join(', ')}) do update set ${updates.join(', ')}
    where (${stored.join(', ')}) is not (${given.join(', ')})`;
}
