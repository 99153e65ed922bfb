import type { DatabaseSync } from 'node:sqlite';
import { importColumns } from '../import-columns.ts';
import type { ImportKind, Imports } from '../port.ts';
import { transaction } from './engine.ts';

/**
 * Rows wait in a temporary table, which belongs to this connection alone, and are written in one transaction
 * at the end: an import that is fed slowly does not keep others, such as a revocation, from writing.
 */
export function createImports(db: DatabaseSync): Imports {
  return {
    beginImport: async (kind) => {
      const columns = importColumns[kind].all;
      transaction(db, 'deferred', () => db.exec(`create temp table staged (${columns.join(', ')})`));
      const insert = db.prepare(`insert into staged values (${columns.map(() => '?').join(', ')})`);
      let staged = 0;

      return {
        stage: async (rows) => {
          transaction(db, 'deferred', () => {
            for (const row of rows) insert.run(...columns.map((column) => row[column] ?? null));
          });
          staged += rows.length;
        },
        write: async (mode) => {
          const written = transaction(db, 'immediate', () => {
            db.exec('savepoint trial');
            const { changes } = db.prepare(upsert(kind)).run();
            if (mode === 'try') db.exec('rollback to trial');
            return Number(changes);
          });
          return { written, unchanged: staged - written };
        },
        end: async () => {
          try {
            db.exec('drop table staged');
          } catch {
            // On a full disk not even this works; the table goes with the connection.
          }
        },
      };
    },
  };
}

/** Replaces a record whole but for its creation time, and touches nothing when its content is the same. */
function upsert(kind: ImportKind): string {
  const { identity, content, all } = importColumns[kind];
  const updates = [...content, 'updated_at'].map((column) => `${column} = excluded.${column}`);
  const stored = content.map((column) => `${kind}.${column}`);
  const given = content.map((column) => `excluded.${column}`);
  // Row by row, so that the later of two lines with one id wins. SQLite's grammar needs the "where true".
  return `
    insert into ${kind} (${all.join(', ')})
    select * from staged where true order by rowid
    on conflict (${identity.join(', ')}) do update set ${updates.join(', ')}
    where (${stored.join(', ')}) is not (${given.join(', ')})`;
}
