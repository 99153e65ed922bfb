import type { DatabaseSync } from 'node:sqlite';
import { importColumns } from '../import-columns.ts';
import { createOrderCheck } from '../import-order.ts';
import type { ImportKind, ImportRow, Imports } from '../port.ts';
import { transaction } from './engine.ts';

/** A statement that takes many rows takes half the time of many that take one. */
const rowsOfStatement = 50;

/** For pages, and for sorting: with the usual 2 MB, a million rows are sorted in a thousand pieces. */
const cacheKibibytes = 16 * 1024;

/**
 * Rows wait in a temporary table, which belongs to this connection alone, and are written in one transaction
 * at the end: an import that is fed slowly does not keep others, such as a revocation, from writing.
 */
export function createImports(db: DatabaseSync): Imports {
  return {
    beginImport: async (kind) => {
      const columns = importColumns[kind].all;
      db.exec(`pragma cache_size = -${cacheKibibytes}`);
      transaction(db, 'deferred', () => db.exec(`create temp table staged (${columns.join(', ')})`));
      const row = `(${columns.map(() => '?').join(', ')})`;
      const insertOne = db.prepare(`insert into staged values ${row}`);
      const insertMany = db.prepare(`insert into staged values ${Array(rowsOfStatement).fill(row).join()}`);
      const valuesOf = (rows: readonly ImportRow[]) =>
        rows.flatMap((row) => columns.map((column) => row[column] ?? null));
      const checkOrder = createOrderCheck(kind);
      let isSorted = true;
      let staged = 0;

      return {
        stage: async (rows) => {
          transaction(db, 'deferred', () => {
            const alone = rows.length % rowsOfStatement;
            for (const row of rows.slice(0, alone)) insertOne.run(...valuesOf([row]));
            for (let start = alone; start < rows.length; start += rowsOfStatement) {
              insertMany.run(...valuesOf(rows.slice(start, start + rowsOfStatement)));
            }
          });
          isSorted = checkOrder(rows);
          staged += rows.length;
        },
        write: async (mode) => {
          const written = transaction(db, 'immediate', () => {
            db.exec('savepoint trial');
            const { changes } = db.prepare(upsert(kind, isSorted)).run();
            db.exec(mode === 'try' ? 'rollback to trial' : 'delete from staged');
            return Number(changes);
          });
          const counts = { written, unchanged: staged - written };
          if (mode === 'keep') staged = 0;
          return counts;
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
function upsert(kind: ImportKind, isSorted: boolean): string {
  const { identity, content, all } = importColumns[kind];
  const updates = [...content, 'updated_at'].map((column) => `${column} = excluded.${column}`);
  const stored = content.map((column) => `${kind}.${column}`);
  const given = content.map((column) => `excluded.${column}`);
  // In the order of the table, in which a million rows take a third of the time that they take in any other;
  // and lines with one id as they came, so that the later wins. SQLite's grammar needs the "where true".
  const order = isSorted ? ['rowid'] : [...identity, 'rowid'];
  return `
    insert into ${kind} (${all.join(', ')})
    select * from staged where true order by ${order.join(', ')}
    on conflict (${identity.join(', ')}) do update set ${updates.join(', ')}
    where (${stored.join(', ')}) is not (${given.join(', ')})`;
}
