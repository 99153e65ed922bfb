import type { QueryResult } from 'pg';
import { importColumns } from '../import-columns.ts';
import type { ImportKind, Imports } from '../port.ts';
import type { Connection } from './connection.ts';
import { translated } from './errors.ts';

/** The columns that are not text; metadata is staged as the text that it is given as. */
const types: Readonly<Record<string, string>> = {
  amount: 'bigint',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  expires_at: 'timestamptz',
};

/**
 * Rows wait in a temporary table, which belongs to a connection of its own, and are written in one
 * transaction at the end: an import that is fed slowly holds no lock.
 */
export function createImports(connect: () => Promise<Connection>): Imports {
  return {
    beginImport: async (kind) => {
      const { all } = importColumns[kind];
      const columns = all.join(', ');
      const typed = all.map((column) => `${column} ${types[column] ?? 'text collate "C"'}`).join(', ');
      const client = await connect();
      const query = async (text: string, values: unknown[] = []): Promise<QueryResult> => {
        try {
          return await client.query(text, values);
        } catch (error) {
          throw translated(error);
        }
      };
      try {
        await query(`create temporary table staged (line bigint generated always as identity, ${typed})`);
      } catch (error) {
        await client.leave();
        throw error;
      }
      let staged = 0;

      return {
        stage: async (rows) => {
          await query(
            `insert into staged (${columns}) select ${columns} from json_to_recordset($1) as given (${typed})`,
            [JSON.stringify(rows)],
          );
          staged += rows.length;
        },
        write: async (mode) => {
          await query('begin');
          const written = await writeStaged(kind, query);
          await query(mode === 'keep' ? 'commit' : 'rollback');
          return { written, unchanged: staged - written };
        },
        // The table goes with the connection, and so does a transaction that did not come to its end.
        end: () => client.leave(),
      };
    },
  };
}

/**
 * A statement cannot touch a row twice, so lines with the same id are written in rounds: the first lines of
 * all, then the second ones. The later line wins, and each that changes something counts.
 */
async function writeStaged(
  kind: ImportKind,
  query: (text: string, values?: unknown[]) => Promise<QueryResult>,
): Promise<number> {
  const identity = importColumns[kind].identity.join(', ');
  await query('analyze staged');
  const counted = await query(
    `select coalesce(max(lines), 0) as rounds from (select count(*) as lines from staged group by ${identity}) as ids`,
  );
  const rounds = Number(counted.rows[0].rounds);
  if (rounds <= 1) return (await query(upsert(kind, 'select * from staged'))).rowCount ?? 0;

  const number = `row_number() over (partition by ${identity} order by line)`;
  await query(`create temporary table numbered on commit drop as select *, ${number} as round from staged`);
  await query('create index on numbered (round)');
  let written = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const { rowCount } = await query(upsert(kind, 'select * from numbered where round = $1'), [round]);
    written += rowCount ?? 0;
  }
  return written;
}

/** Replaces a record whole but for its creation time, and touches nothing when its content is the same. */
function upsert(kind: ImportKind, source: string): string {
  const { identity, content, all } = importColumns[kind];
  const updates = [...content, 'updated_at'].map((column) => `${column} = excluded.${column}`);
  const given = all.map((column) => (column === 'metadata' ? 'metadata::json' : column)).join(', ');
  // JSON has no equality; its text, with sorted keys, has.
  const compared = (table: string) =>
    content.map((column) => `${table}.${column}${column === 'metadata' ? '::text' : ''}`).join(', ');
  // In the order of ids, so that two imports take their locks in the same order.
  return `
    insert into ${kind} (${all.join(', ')})
    select ${given} from (${source}) as source order by ${identity.join(', ')}
    on conflict (${identity.join(', ')}) do update set ${updates.join(', ')}
    where (${compared(kind)}) is distinct from (${compared('excluded')})`;
}
