import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Environment } from '@partner-network/contract/environments';
import { OperatorError } from '../../operator-error.ts';
import type { Purpose } from '../open.ts';
import type { KeyUse, Receipt, Receipts } from '../port.ts';
import { createReceiptReads } from '../receipts.ts';
import { plainSql, transaction } from './engine.ts';
import { openFile } from './file.ts';
import { migrate, receiptsSchema } from './migrate.ts';

/** Writes a batch. */
interface Writes {
  receipts(batch: readonly Receipt[]): void;
  keyUses(batch: readonly KeyUse[]): void;
}

interface ReceiptsFile extends Receipts {
  closeReceipts(): void;
}

/**
 * Receipts live in a file of their own beside the database, for an import may keep that locked for longer
 * than a receipt may wait. Who serves opens it at once; a command when it needs it, and makes none to read.
 */
export function createReceipts(database: string, environment: Environment, purpose: Purpose): ReceiptsFile {
  const path = `${database}-receipts`;
  let db: DatabaseSync | undefined;
  let writes: Writes | undefined;

  function open(): DatabaseSync {
    if (db !== undefined) return db;
    db = openReceipts(path, environment, purpose);
    return db;
  }

  function opened(): Writes {
    writes ??= createWrites(open());
    return writes;
  }

  const rows = async (...statement: Parameters<ReturnType<typeof plainSql>['rows']>) =>
    db === undefined && !existsSync(path) ? [] : plainSql(open()).rows(...statement);

  if (purpose === 'serve') open();
  return {
    ...createReceiptReads({ rows }),

    recordReceipts: async (receipts) => opened().receipts(receipts),

    recordKeyUses: async (uses) => opened().keyUses(uses),

    lastUses: async (keyIds) => {
      const text = 'select key_id, used_at from key_uses where key_id in (select value from json_each($1))';
      const found = await rows(text, JSON.stringify(keyIds));
      return new Map(found.map(({ key_id, used_at }) => [key_id as string, used_at as string]));
    },

    closeReceipts: () => db?.close(),
  };
}

function openReceipts(path: string, environment: Environment, purpose: Purpose): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = openFile(path, purpose);
    migrate(db, environment, receiptsSchema);
    // A process that is killed loses nothing; a machine that loses its power, what no checkpoint has saved.
    db.exec('pragma synchronous = normal');
    // To wait would keep requests waiting: who serves tries again a moment later.
    if (purpose === 'serve') db.exec('pragma busy_timeout = 0');
    return db;
  } catch (error) {
    db?.close();
    throw new OperatorError(`Cannot open the receipts ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function createWrites(db: DatabaseSync): Writes {
  const insertReceipt = db.prepare(`
    insert into receipts (at, request_id, partner_id, key_id, customer_id, grant_id, outcome)
    values (?, ?, ?, ?, ?, ?, ?)
    on conflict do nothing`);

  const upsertKeyUse = db.prepare(`
    insert into key_uses (key_id, used_at) values (?, ?)
    on conflict (key_id) do update set used_at = excluded.used_at where used_at < excluded.used_at`);

  return {
    receipts: (batch) =>
      transaction(db, 'immediate', () => {
        for (const { at, request_id, partner_id, key_id, customer_id = '', grant_id, outcome } of batch) {
          insertReceipt.run(at, request_id, partner_id, key_id, customer_id, grant_id ?? null, outcome);
        }
      }),
    keyUses: (batch) =>
      transaction(db, 'immediate', () => {
        for (const { keyId, usedAt } of batch) upsertKeyUse.run(keyId, usedAt);
      }),
  };
}
