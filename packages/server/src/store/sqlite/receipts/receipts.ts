import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Environment } from '@partner-network/contract/environments';
import { OperatorError } from '../../../lib/operator-error.ts';
import type { Purpose } from '../../address.ts';
import type { Receipts } from '../../port.ts';
import type { Sql } from '../../sql/accounts.ts';
import { createReceiptReads } from '../../sql/receipts.ts';
import { plainSql } from '../engine.ts';
import { openFile, receiptsFileOf } from '../file.ts';
import { migrate, receiptsSchema } from '../migrate.ts';
import { createWriter } from './writer.ts';
import { createWrites, type Writes } from './writes.ts';

interface ReceiptsFile extends Receipts {
  closeReceipts(): Promise<void>;
}

/**
 * Receipts have their own file beside the database: an import may lock the database for longer than a receipt
 * may wait. `serve` opens the file at once. A command opens it when needed, and does not create it to read.
 */
export function createReceipts(database: string, environment: Environment, purpose: Purpose): ReceiptsFile {
  const path = receiptsFileOf(database);
  let db: DatabaseSync | undefined;
  let writes: Writes | undefined;

  function open(): DatabaseSync {
    db ??= openReceipts(path, environment, purpose);
    return db;
  }

  if (purpose === 'serve') open();
  const writer = purpose === 'serve' ? createWriter(path) : undefined;

  async function write(kind: keyof Writes, batch: readonly object[]): Promise<void> {
    if (writer !== undefined) return writer.write(kind, batch);
    writes ??= createWrites(open());
    writes[kind](batch as never);
  }

  const rows: Sql['rows'] = async (...statement) =>
    db === undefined && !existsSync(path) ? [] : plainSql(open()).rows(...statement);

  return {
    ...createReceiptReads({ rows }),

    recordReceipts: (receipts) => write('receipts', receipts),

    recordKeyUses: (uses) => write('keyUses', uses),

    lastUses: async (keyIds) => {
      const text = 'select key_id, used_at from key_uses where key_id in (select value from json_each($1))';
      const found = await rows(text, JSON.stringify(keyIds));
      return new Map(found.map(({ key_id, used_at }) => [key_id as string, used_at as string]));
    },

    closeReceipts: async () => {
      await writer?.close();
      db?.close();
    },
  };
}

function openReceipts(path: string, environment: Environment, purpose: Purpose): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = openFile(path, purpose);
    migrate(db, environment, receiptsSchema);
    return db;
  } catch (error) {
    db?.close();
    throw new OperatorError(`Cannot open the receipts ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
