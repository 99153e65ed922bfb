import type { ClientBase } from 'pg';
import { storeBounds } from '../../bounds/store.ts';
import type { ExportSelection, Store } from '../port.ts';
import { exportQuery } from '../sql/exports.ts';
import type { Pool } from './connections/pool.ts';

/** Removes the timeouts, because the reader may be slow, and plans for reading all rows. */
const settings = `
  set transaction isolation level repeatable read, read only;
  set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0;
  set local cursor_tuple_fraction = 1`;

/** Reads through a cursor on the server: batch by batch, and all from one snapshot. */
export function createExports(pool: Pool): Pick<Store, 'exportRecords'> {
  return {
    exportRecords: async (selection, write) => {
      const failure = await pool.transaction(async (client) => {
        for await (const lines of readLines(client, selection)) {
          try {
            await write(lines);
          } catch (error) {
            // An error of the reader: it passes unchanged, and the connection stays usable.
            return { error };
          }
        }
        return undefined;
      });
      if (failure !== undefined) throw failure.error;
    },
  };
}

async function* readLines(client: ClientBase, selection: ExportSelection): AsyncGenerator<string> {
  const { text, values, recordOf } = exportQuery(selection);
  await client.query(settings);
  await client.query(`declare exported no scroll cursor for ${text}`, [...values]);
  const size = selection.kind === 'brands' ? storeBounds.exportBatchBrands : storeBounds.exportBatchRecords;
  const fetch = { text: `fetch ${size} from exported`, rowMode: 'array' as const };
  for (;;) {
    const { rows } = await client.query<unknown[]>(fetch);
    if (rows.length === 0) return;
    yield rows.map((row) => `${recordOf(row)}\n`).join('');
  }
}
