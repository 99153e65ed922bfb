import type { SQLInputValue } from 'node:sqlite';
import type { ImportKind, ImportRow, Missing } from '../../port.ts';
import { createOrderCheck, importColumns, type Merged } from '../../sql/imports.ts';

/** What is known of the rows in the table `staged`. */
export interface Staged {
  /** Whether all rows are in the order of the table, and no id is repeated. */
  readonly isSorted: boolean;
  readonly hasDeletions: boolean;
}

/** Rows to stage. `Staged` is about these rows and all before them. */
export interface Rows extends Staged {
  readonly count: number;
  /** The values of `stagedColumns`, one row after the other. */
  readonly values: readonly SQLInputValue[];
}

/** The statements for one kind of records. */
export interface KindWrites {
  /** The definitions of temporary tables besides `staged`. */
  readonly tables: readonly string[];
  /** Whether no record is stored, and no deletion is remembered. */
  isEmpty(): boolean;
  countMissing(): Missing;
  /** Deletes what was not staged and is not newer than the import. Returns the number. */
  deleteMissing(): number;
  /** Merges the staged rows into the table. */
  merge(staged: Staged): Merged;
}

/** The columns of `staged`. The last may be long, and are then stored apart from the first. */
export function stagedColumns(kind: ImportKind): readonly string[] {
  return ['line', 'is_timed', 'deleted_at', ...importColumns[kind].all];
}

/** Returns a function that prepares rows, and says what is known of them and all before them. */
export function createRows(kind: ImportKind): (rows: readonly ImportRow[]) => Rows {
  const checkOrder = createOrderCheck(kind);
  const columns = stagedColumns(kind);
  let hasDeletions = false;
  return (rows) => {
    const values: SQLInputValue[] = [];
    for (const row of rows) {
      const is_timed = row.is_timed === 1 ? 1 : 0;
      for (const column of columns) values.push(column === 'is_timed' ? is_timed : (row[column] ?? null));
      if (row.deleted_at !== undefined) hasDeletions = true;
    }
    return { values, count: rows.length, isSorted: checkOrder(rows), hasDeletions };
  };
}
