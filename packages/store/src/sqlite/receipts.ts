import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { receiptsBounds } from '@partner-network/common/bounds/service';
import { OperatorError } from '@partner-network/common/errors';
import type { Environment } from '@partner-network/contract/environments';
import type { OpenOptions } from '../address.ts';
import { type Journal, type Receipt, StoreUnavailable } from '../port.ts';
import { createJournalReads } from '../sql/journal.ts';
import type { Sql } from '../sql/statement.ts';
import { emptyLog, releasePages, shrinkLog } from './disk-space.ts';
import { createSql } from './engine.ts';
import { cannotOpen, receiptsFileOf } from './file.ts';
import { openCurrent, receiptsSchema } from './migrate.ts';
import type { BatchWrite } from './receipts-thread.ts';
import { startThread } from './thread-call.ts';

/**
 * The parameter is a JSON list. A receipt is a list, too: by the names of its fields, it would take a quarter
 * longer (18 µs instead of 14). SQLite's grammar needs "where true".
 */
const insertReceipts = `
  insert into receipts (at, request_id, operation, partner_id, key_id, customer_id, grant_id, outcome)
  select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
    value ->> 7
  from json_each(?) where true
  on conflict do nothing`;

function valuesOf(receipt: Receipt) {
  const { at, request_id, operation, partner_id, key_id, customer_id = '', grant_id, outcome } = receipt;
  return [at, request_id, operation, partner_id, key_id, customer_id, grant_id ?? null, outcome];
}

const upsertKeyUses = `
  insert into key_uses (key_id, used_at)
  select value ->> 'keyId', value ->> 'usedAt' from json_each(?) where true
  on conflict (key_id) do update set used_at = excluded.used_at
  where used_at < excluded.used_at
    or used_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+${receiptsBounds.keyUseAheadSeconds} seconds')`;

const addUsage = `
  insert into usage (at, partner_id, key_id, operation, code, count, peak, slowest_ms)
  select value ->> 'from', value ->> 'partner_id', value ->> 'key_id', value ->> 'operation',
    value ->> 'code', value ->> 'count', value ->> 'peak', value ->> 'slowest_ms'
  from json_each(?) where true
  on conflict do update set count = count + excluded.count,
    peak = max(coalesce(peak, excluded.peak), coalesce(excluded.peak, peak)),
    slowest_ms = max(coalesce(slowest_ms, excluded.slowest_ms), coalesce(excluded.slowest_ms, slowest_ms))`;

/**
 * Receipts have their own file beside the database: an import may lock the database for longer than a receipt
 * may wait. A command opens the file when needed, and does not create it to read.
 *
 * A thread writes, because SQLite blocks its caller and sometimes waits 50 to 150 ms for the disk: no
 * request would be answered meanwhile. It starts with the first batch, so it does not delay a start. It takes
 * 30 MB, so only what answers requests has one.
 */
export function createReceipts(
  database: string,
  environment: Environment,
  options: OpenOptions,
  audit: Sql['rows'],
  /** Throws if the file was replaced: what is written to it then is lost. */
  requireFile: () => void,
) {
  const path = receiptsFileOf(database);
  let db: DatabaseSync | undefined;
  let thread: ReturnType<typeof startThread<BatchWrite, void>> | undefined;

  function open(): DatabaseSync {
    db ??= openReceipts(path, environment, options);
    return db;
  }

  function callThread(call: BatchWrite): Promise<void> {
    if (thread === undefined || thread.failure() !== undefined) {
      thread = startThread(new URL('./receipts-thread.ts', import.meta.url), path);
    }
    return thread.call(call);
  }

  async function write(statement: string, rows: readonly object[]): Promise<void> {
    open();
    requireFile();
    const batch = JSON.stringify(rows);
    try {
      if (options.answersRequests) await callThread({ statement, batch });
      else open().prepare(statement).run(batch);
    } catch (error) {
      const reason = (error as Error).message;
      throw new StoreUnavailable(`The receipts file cannot be written (${reason}).`);
    }
    requireFile();
  }

  const rows: Sql['rows'] = async (...statement) =>
    db === undefined && !existsSync(path) ? [] : createSql(open()).rows(...statement);

  const dayOf = `substr(at, 1, 10) || 'T00:00:00.000Z'`;
  const reads = createJournalReads(rows, { listed: 'json_each($1)', dayOf }, audit);

  const all: Journal = {
    ...reads,
    prune: async (...pruned) => {
      const removed = await reads.prune(...pruned);
      // Fails on a full disk. The rows are gone, and the next run gives their space back.
      if (db !== undefined) await releasePages(db).catch(() => {});
      return removed;
    },
    recordUsage: (counts) => write(addUsage, counts),
    recordReceipts: (batch) => write(insertReceipts, batch.map(valuesOf)),
    recordKeyUses: (uses) => write(upsertKeyUses, uses),
  };

  async function close(): Promise<void> {
    await thread?.close();
    if (db !== undefined && options.role === undefined) shrinkLog(db, path);
    db?.close();
  }
  return { all, open, close };
}

function openReceipts(path: string, environment: Environment, options: OpenOptions): DatabaseSync {
  try {
    if (options.schema === 'keep' && !existsSync(path)) {
      throw new OperatorError('the file does not exist. Create it with "partner-network migrate".');
    }
    const { db } = openCurrent(path, environment, options, receiptsSchema, true);
    if (options.answersRequests) emptyLog(db);
    return db;
  } catch (error) {
    throw error instanceof OperatorError
      ? new OperatorError(`Cannot open the receipts ${path}: ${error.message}`)
      : cannotOpen('the receipts', path, error);
  }
}
