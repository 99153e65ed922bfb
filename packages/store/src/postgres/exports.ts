import { storeBounds } from '@partner-network/common/bounds/store';
import type { Store } from '../port.ts';
import { exportQuery } from '../sql/exports.ts';
import type { Pool } from './connections/pool.ts';

/** Removes the timeouts, because the reader may be slow, and plans for reading all rows. */
const settings = `
  set transaction isolation level repeatable read, read only;
  set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0;
  set local cursor_tuple_fraction = 1`;

/** Reads through a cursor on the server: batch by batch, and all from one snapshot. */
export function createExport(pool: Pool): Store['exportRecords'] {
  return async (selection, write) => {
    const { text, values, recordOf } = exportQuery(selection);
    const { exportBatchBrands, exportBatchRecords } = storeBounds;
    const size = selection.kind === 'brands' ? exportBatchBrands : exportBatchRecords;
    const fetch = { text: `fetch ${size} from exported`, rowMode: 'array' as const };
    const failure = await pool.inTransaction(async (client) => {
      await client.query(settings);
      await client.query(`declare exported no scroll cursor for ${text}`, values);
      for (;;) {
        const { rows } = await client.query<unknown[]>(fetch);
        if (rows.length === 0) return undefined;
        try {
          await write(rows.map((row) => `${recordOf(row)}\n`).join(''));
        } catch (error) {
          // An error of the reader: it passes unchanged, and the connection stays usable.
          return { error };
        }
      }
    });
    if (failure !== undefined) throw failure.error;
  };
}
