/** Reads and deletes receipts, in SQL that both engines understand. */
import { receiptsBounds } from '../../bounds/receipts.ts';
import type { Receipt, Receipts, ReceiptWrites } from '../port.ts';
import type { Row, Sql, Value } from './statement.ts';

const columns = 'at, request_id, partner_id, key_id, customer_id, grant_id, outcome';

/** `listed` is the engine's expression for the rows of the JSON list $1, each with a column `value`. */
export function createReceiptReads(rows: Sql['rows'], listed: string): Omit<Receipts, keyof ReceiptWrites> {
  return {
    listReceipts: async ({ partnerId, keyId, customerId, since, after, limit }) => {
      const values: Value[] = [];
      const parameter = (value: Value) => `$${values.push(value)}`;
      const conditions = ['true'];
      if (customerId !== undefined) conditions.push(`customer_id = ${parameter(customerId)}`);
      if (partnerId !== undefined) {
        // A customer has few receipts, a partner may have millions. The expression keeps the planner from
        // using the partner's index when both are given.
        const column = customerId === undefined ? 'partner_id' : `partner_id || ''`;
        conditions.push(`${column} = ${parameter(partnerId)}`);
      }
      if (keyId !== undefined) conditions.push(`key_id = ${parameter(keyId)}`);
      if (since !== undefined) conditions.push(`at >= ${parameter(since)}`);
      if (after !== undefined) {
        conditions.push(`(at, request_id) < (${parameter(after.at)}, ${parameter(after.request_id)})`);
      }
      const found = await rows(
        `select ${columns} from receipts where ${conditions.join(' and ')}
        order by at desc, request_id desc limit ${parameter(limit)}`,
        ...values,
      );
      return found.map(receiptOfRow);
    },

    countReceipts: async (olderThan) => {
      const [counted] = await rows('select count(*) as found from receipts where at < $1', olderThan);
      return Number(counted?.found ?? 0);
    },

    // By time and not by row: a distributed database can delete a range on all nodes at once.
    pruneReceipts: async (olderThan) => {
      const [last] = await rows(
        'select at from receipts where at < $1 order by at limit 1 offset $2',
        olderThan,
        receiptsBounds.receiptsPruned - 1,
      );
      const removed =
        last === undefined
          ? await rows('delete from receipts where at < $1 returning 1 as gone', olderThan)
          : await rows('delete from receipts where at <= $1 returning 1 as gone', last.at as string);
      return removed.length;
    },

    lastUses: async (keyIds) => {
      const text = `select key_id, used_at from key_uses where key_id in (select value from ${listed})`;
      const found = await rows(text, JSON.stringify(keyIds));
      return new Map(found.map(({ key_id, used_at }) => [key_id as string, used_at as string]));
    },
  };
}

function receiptOfRow(row: Row): Receipt {
  const { customer_id, grant_id, ...rest } = row as unknown as Receipt;
  // The customer is a part of an index, so a missing customer is stored as ''. A missing grant is null.
  return { ...rest, ...(customer_id && { customer_id }), ...(grant_id && { grant_id }) };
}
