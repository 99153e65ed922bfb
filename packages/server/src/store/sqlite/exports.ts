import { DatabaseSync } from 'node:sqlite';
import { storeBounds } from '../../bounds/store.ts';
import type { Exports } from '../port.ts';
import { exportQuery } from '../sql/export-query.ts';
import { numbered, translated } from './engine.ts';

/**
 * One statement sees one moment of the database for as long as it runs, on a connection of its own, which
 * nobody else writes by. Meanwhile the write-ahead log only grows: it is folded into the file when the export
 * has ended.
 */
export function createExports(path: string): Exports {
  return {
    exportRecords: async (selection, write) => {
      const { text, values, recordOf } = exportQuery(selection);
      const db = new DatabaseSync(path, { readOnly: true, timeout: storeBounds.sqliteCommandBusyMs });
      try {
        const statement = db.prepare(text);
        statement.setReturnArrays(true);
        let lines = '';
        for (const row of rowsOf(statement.iterate(numbered(values)))) {
          lines += `${recordOf(row)}\n`;
          if (lines.length < storeBounds.exportChunkCharacters) continue;
          await write(lines);
          lines = '';
        }
        if (lines !== '') await write(lines);
      } finally {
        db.close();
      }
    },
  };
}

/** Its failures are told from those of whoever is written to. */
function* rowsOf(rows: Iterable<unknown>): Generator<readonly unknown[]> {
  try {
    yield* rows as Iterable<readonly unknown[]>;
  } catch (error) {
    throw translated(error);
  }
}
