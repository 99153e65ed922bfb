import type { ClientBase } from 'pg';
import { storeBounds } from '../../bounds/store.ts';
import type { ExportSelection, Exports } from '../port.ts';
import { exportQuery } from '../sql/export-query.ts';
import type { Pool } from './connections/pool.ts';

/** Whoever reads may take their time; and as all rows are wanted, the plan is not the one for a few. */
const settings = `
  set transaction isolation level repeatable read, read only;
  set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0;
  set local cursor_tuple_fraction = 1`;

/** A cursor on the server sees one moment of the database, and is read piece by piece. */
export function createExports(pool: Pool): Exports {
  return {
    exportRecords: async (selection, write) => {
      const failure = await pool.transaction(async (client) => {
        for await (const lines of readLines(client, selection)) {
          try {
            await write(lines);
          } catch (error) {
            // Not the database's: it is told as it is, and costs no connection.
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
