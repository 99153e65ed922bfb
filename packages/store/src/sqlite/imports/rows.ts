import type { SQLInputValue } from 'node:sqlite';
import type { ImportKind, ImportRow } from '../../port.ts';
import { createOrderCheck, grantLineColumns, importColumns } from '../../sql/imports.ts';
import type { Rows } from './kind-writes.ts';

/** The columns of `staged`. The last may be long, and are then stored apart from the first. */
export function stagedColumns(kind: ImportKind): readonly string[] {
  const columns =
    kind === 'grants' ? grantLineColumns : ['is_timed', 'deleted_at', ...importColumns[kind].all];
  return ['line', ...columns];
}

/** Returns a function that prepares rows, and says what is known of them and all before them. */
export function createRows(kind: ImportKind): (rows: readonly ImportRow[]) => Rows {
  const checkOrder = createOrderCheck(kind);
  const columns = stagedColumns(kind);
  let hasDeletions = false;
  let hasUntimed = false;
  return (rows) => {
    const values: SQLInputValue[] = [];
    for (const row of rows) {
      const is_timed = row.is_timed === 1 ? 1 : 0;
      for (const column of columns) values.push(column === 'is_timed' ? is_timed : (row[column] ?? null));
      if (row.deleted_at !== undefined) hasDeletions = true;
      else if (is_timed === 0) hasUntimed = true;
    }
    return { values, count: rows.length, isSorted: checkOrder(rows), hasDeletions, hasUntimed };
  };
}
