import { storeBounds } from '@partner-network/common/bounds/store';
import type { Store } from '../port.ts';
import { exportQuery } from '../sql/exports.ts';
import { numbered, translated } from './engine.ts';
import { openToInspect } from './file.ts';

/**
 * Exports with one statement on its own connection: a statement sees one snapshot for as long as it runs.
 * Meanwhile the write-ahead log only grows; it is merged into the file after the export.
 */
export function createExport(path: string): Store['exportRecords'] {
  return async (selection, write) => {
    const { text, values, recordOf } = exportQuery(selection);
    using db = openToInspect(path, storeBounds.sqliteCommandBusyMs);
    try {
      const statement = db.prepare(text);
      statement.setReturnArrays(true);
      let lines = '';
      for (const row of statement.iterate(numbered(values))) {
        lines += `${recordOf(row as unknown as readonly unknown[])}\n`;
        if (lines.length < storeBounds.exportChunkCharacters) continue;
        await write(lines);
        lines = '';
      }
      if (lines !== '') await write(lines);
    } catch (error) {
      throw translated(error);
    }
  };
}
