/** Reads and deletes receipts, in SQL that both engines understand. */
import type { JournalWrites, Receipt, Receipts } from '../port.ts';
import { createPruning } from './prune.ts';
import { createConditions, type Row, type Sql } from './statement.ts';

const columns = 'at, request_id, partner_id, key_id, customer_id, grant_id, outcome';

/**
 * `listed` is the engine's expression for the rows of the JSON list $1, each with a column `value`. `audit`
 * runs a statement on the database of the audit log, which may be another file.
 */
export function createReceiptReads(
  rows: Sql['rows'],
  listed: string,
  audit: Sql['rows'],
): Omit<Receipts, keyof JournalWrites> {
  const { count, prune } = createPruning(rows, audit, 'receipts');
  return {
    listReceipts: async (query) => {
      const { requestId, partnerId, keyId, customerId, outcome, since, until, after, limit } = query;
      const { values, parameter, add, addEqual, addSpan, text } = createConditions();
      const isGranted = outcome === 'GRANTED';
      // A request has one receipt, a customer few, a partner may have millions.
      const used = addEqual({
        request_id: requestId,
        customer_id: customerId,
        outcome: isGranted ? undefined : outcome,
        partner_id: partnerId,
      });
      // The index has only refused requests. Almost all others are granted, and are found by time.
      const isIndexed = used === 'outcome' ? `outcome <> 'GRANTED'` : 'true';
      if (isGranted) add(outcome, (granted) => `outcome = ${granted}`);
      add(keyId, (value) => `key_id = ${value}`);
      addSpan(since, until);
      add(after?.at, (at) => `(at, request_id) < (${at}, ${parameter(after!.request_id)})`);
      const found = await rows(
        `select ${columns} from receipts where ${isIndexed} and ${text()}
        order by at desc, request_id desc limit ${parameter(limit)}`,
        ...values,
      );
      return found.map(receiptOfRow);
    },

    countReceipts: count,
    pruneReceipts: prune,
    lastUses: (keyIds) => readLastUses(rows, listed, keyIds),
  };
}

/** The last use of each key by key id. `listed` is as above. */
export async function readLastUses(
  rows: Sql['rows'],
  listed: string,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const text = `select key_id, used_at from key_uses where key_id in (select value from ${listed})`;
  const found = await rows(text, JSON.stringify(keyIds));
  return new Map(found.map(({ key_id, used_at }) => [key_id as string, used_at as string]));
}

function receiptOfRow(row: Row): Receipt {
  const { customer_id, grant_id, ...rest } = row as unknown as Receipt;
  // The customer is a part of an index, so a missing customer is stored as ''. A missing grant is null.
  return { ...rest, ...(customer_id && { customer_id }), ...(grant_id && { grant_id }) };
}
