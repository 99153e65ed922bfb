import type { Receipts } from '../port.ts';
import { createReceiptReads } from '../sql/receipts.ts';
import { type Pool, sqlOn } from './connections/pool.ts';
import type { Statement } from './statements.ts';

/** $1 is a JSON list. Ignores receipts that exist: a batch is sent again if its answer was lost. */
const insertReceipts: Statement = {
  name: 'insert_receipts',
  text: `
    insert into receipts (customer_id, at, request_id, partner_id, key_id, grant_id, outcome)
    select coalesce(customer_id, ''), at, request_id, partner_id, key_id, grant_id, outcome
    from json_to_recordset($1) as given (
      customer_id text, at timestamptz, request_id uuid, partner_id text, key_id text, grant_id text,
      outcome text
    )
    on conflict do nothing`,
};

/** $1 is a JSON list. Writes in the order of keys, so that two processes cannot deadlock. */
const upsertKeyUses: Statement = {
  name: 'upsert_key_uses',
  text: `
    insert into key_uses (key_id, used_at)
    select "keyId", "usedAt" from json_to_recordset($1) as given ("keyId" text, "usedAt" timestamptz)
    order by "keyId" collate "C"
    on conflict (key_id) do update set used_at = excluded.used_at
    where key_uses.used_at < excluded.used_at`,
};

export function createReceipts(pool: Pool): Receipts {
  const write = async (statement: Statement, records: readonly object[]): Promise<void> => {
    await pool.query(statement, [JSON.stringify(records)]);
  };
  const { rows } = sqlOn(pool);
  return {
    ...createReceiptReads(rows, 'json_array_elements_text($1)', rows),
    recordReceipts: (receipts) => write(insertReceipts, receipts),
    recordKeyUses: (uses) => write(upsertKeyUses, uses),
  };
}
