import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { ImportKind, ImportRows, ImportRun, Imports } from '../port.ts';

/** The tables' columns: their identity, what a record says, and its times. */
const tables: Readonly<Record<ImportKind, { identity: string[]; content: string[] }>> = {
  brands: {
    identity: ['partner_id', 'id'],
    content: ['name', 'reference_id', 'color', 'profile_image_url', 'metadata'],
  },
  balances: { identity: ['customer_id', 'id'], content: ['type', 'currency', 'amount'] },
  grants: { identity: ['customer_id', 'id'], content: ['partner_id', 'action', 'status', 'expires_at'] },
};

/** One import is one transaction: readers see nothing of it before its commit. */
export function createImports(db: DatabaseSync): Imports {
  return {
    beginImport: async <Kind extends ImportKind>(kind: Kind): Promise<ImportRun<ImportRows[Kind]>> => {
      const columns = [...tables[kind].identity, ...tables[kind].content, 'created_at', 'updated_at'];
      const upsert = db.prepare(upsertInto(kind, columns));
      db.exec('begin immediate');
      return {
        write: async (rows) => {
          let written = 0;
          for (const row of rows) {
            const values = columns.map(
              (column) => (row as unknown as Record<string, SQLInputValue>)[column] ?? null,
            );
            written += Number(upsert.run(...values).changes);
          }
          return { written, unchanged: rows.length - written };
        },
        commit: async () => db.exec('commit'),
        rollback: async () => db.exec('rollback'),
      };
    },
  };
}

/** Replaces a record whole but for its creation time, and touches nothing when its content is the same. */
function upsertInto(kind: ImportKind, columns: string[]): string {
  const { identity, content } = tables[kind];
  const updates = [...content, 'updated_at'].map((column) => `${column} = excluded.${column}`);
  const stored = content.map((column) => `${kind}.${column}`);
  const given = content.map((column) => `excluded.${column}`);
  return `
    insert into ${kind} (${columns.join(', ')})
    values (${columns.map(() => '?').join(', ')})
    on conflict (${identity.join(', ')}) do update set ${updates.join(', ')}
    where (${stored.join(', ')}) is not (${given.join(', ')})`;
}
