import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { ImportCounts, ImportKind, ImportPace } from '../../port.ts';
import { importColumns, upsert } from '../../sql/imports.ts';
import { attempt, transaction } from '../engine.ts';

export interface StagedRows {
  /** The values of several rows, one row after the other. */
  readonly values: readonly SQLInputValue[];
  /** Whether these rows and all before them are in the order of the table. */
  readonly isSorted: boolean;
}

/** Rows of one insert. A statement with many rows takes half the time per row. */
const rowsOfStatement = 50;

/** Also used for sorting: with SQLite's default of 2 MB, a million rows are sorted in a thousand pieces. */
const cacheKibibytes = 16 * 1024;

/**
 * The writes of one import run. Its states:
 * - direct: a fast import whose rows were all sorted so far. Rows go straight into the table, in an open
 *   transaction, so that each is written once. Goes to staging at the first unsorted batch.
 * - staging: any other import. Rows go into a temporary table of this connection. Without direct rows before
 *   them no transaction stays open, so a slow import does not block other writes, such as a revocation.
 * - `write` moves the staged rows into the table and commits (keep) or rolls back (try). The run goes on.
 * - A failure rolls back. `end` rolls back and drops the temporary table.
 */
export function createImportWrites(db: DatabaseSync, kind: ImportKind, pace: ImportPace) {
  const { all } = importColumns[kind];
  db.exec(`pragma cache_size = -${cacheKibibytes}`);
  transaction(db, 'deferred', () => db.exec(`create temp table staged (${all.join(', ')})`));
  const stageRows = createInsert(db, kind, (rows) => `insert into staged values ${rows}`);
  const placeRows = createInsert(db, kind, (rows) => upsertChanged(kind, `values ${rows}`));
  /** Rows written directly, rows that changed the table, and rows in the temporary table. */
  let placed = 0;
  let changed = 0;
  let staged = 0;
  let isAllSorted = true;

  function begin(): void {
    if (!db.isTransaction) db.exec('begin immediate');
  }

  return {
    stage: ({ values, isSorted }: StagedRows): void =>
      attempt(db, () => {
        isAllSorted = isSorted;
        if (pace === 'fast' && isSorted) {
          begin();
          changed += placeRows(values);
          placed += values.length / all.length;
        } else if (db.isTransaction) staged += stageRows(values);
        else staged += transaction(db, 'deferred', () => stageRows(values));
      }),
    write: (mode: 'keep' | 'try'): ImportCounts =>
      attempt(db, () => {
        begin();
        if (staged > 0) {
          const move = db.prepare(upsertChanged(kind, stagedRows(kind, isAllSorted)));
          changed += Number(move.run().changes);
        }
        const counts = { written: changed, unchanged: placed + staged - changed };
        if (mode === 'keep') db.exec('delete from staged; commit');
        else db.exec('rollback');
        // Rows that were staged outside of the transaction are still there after a trial.
        if (mode === 'keep' || placed > 0) staged = 0;
        placed = 0;
        changed = 0;
        return counts;
      }),
    end: (): void => {
      try {
        if (db.isTransaction) db.exec('rollback');
        db.exec('drop table staged');
      } catch {
        // Fails on a full disk. The table is gone when the connection closes.
      }
    },
  };
}

/** Returns a function that inserts rows, many at a time, and returns how many changed the table. */
function createInsert(db: DatabaseSync, kind: ImportKind, statementOf: (rows: string) => string) {
  const columns = importColumns[kind].all.length;
  const row = `(${Array(columns).fill('?').join(', ')})`;
  const one = db.prepare(statementOf(row));
  const many = db.prepare(statementOf(Array(rowsOfStatement).fill(row).join()));
  const valuesOfMany = columns * rowsOfStatement;
  return (values: StagedRows['values']): number => {
    let changes = 0;
    for (let start = 0; start < values.length; ) {
      const isMany = start + valuesOfMany <= values.length;
      const end = start + (isMany ? valuesOfMany : columns);
      changes += Number((isMany ? many : one).run(...values.slice(start, end)).changes);
      start = end;
    }
    return changes;
  };
}

/**
 * Selects staged rows in the order of the table: a million rows take a third of the time of another order.
 * Rows with the same id stay in their order, so that the last one wins. SQLite's grammar needs "where true".
 */
function stagedRows(kind: ImportKind, isSorted: boolean): string {
  const order = isSorted ? ['rowid'] : [...importColumns[kind].identity, 'rowid'];
  return `select * from staged where true order by ${order.join(', ')}`;
}

/** Leaves a record unchanged if its content is the same. */
function upsertChanged(kind: ImportKind, rows: string): string {
  const { content } = importColumns[kind];
  const stored = content.map((column) => `${kind}.${column}`);
  const given = content.map((column) => `excluded.${column}`);
  return upsert(kind, rows, `(${stored.join(', ')}) is not (${given.join(', ')})`);
}
