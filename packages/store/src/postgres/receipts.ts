import { receiptsBounds } from '@partner-network/common/bounds/service';
import { type Journal, PartlyWritten, type Receipt } from '../port.ts';
import { createJournalReads } from '../sql/journal.ts';
import type { Pool } from './connections/pool.ts';
import { nodesOf } from './distribution/slow-nodes.ts';
import type { Statement } from './statements.ts';

/** $1 is a JSON list. Ignores receipts that exist: a batch is sent again if its answer was lost. */
const insertReceipts: Statement = {
  name: 'insert_receipts',
  text: `
    insert into receipts (customer_id, at, request_id, operation, partner_id, key_id, grant_id, outcome)
    select coalesce(customer_id, ''), at, request_id, operation, partner_id, key_id, grant_id, outcome
    from json_to_recordset($1) as listed (
      customer_id text, at timestamptz, request_id uuid, operation text, partner_id text, key_id text,
      grant_id text, outcome text
    )
    on conflict do nothing`,
};

/**
 * $1 is a JSON list. Writes in the order of keys, so that two processes cannot deadlock. The database's clock
 * says whether a stored use is in the future: uses can be written late, so their own times do not.
 */
const upsertKeyUses: Statement = {
  name: 'upsert_key_uses',
  text: `
    insert into key_uses (key_id, used_at)
    select "keyId", "usedAt" from json_to_recordset($1) as listed ("keyId" text, "usedAt" timestamptz)
    order by "keyId" collate "C"
    on conflict (key_id) do update set used_at = excluded.used_at
    where key_uses.used_at < excluded.used_at
      or key_uses.used_at > now() + interval '${receiptsBounds.keyUseAheadSeconds} seconds'`,
};

/** $1 is a JSON list. Writes in the order of the primary key, so that two processes cannot deadlock. */
const addUsage: Statement = {
  name: 'add_usage',
  text: `
    insert into usage (at, partner_id, key_id, operation, code, count, peak, slowest_ms)
    select "from", partner_id, key_id, operation, code, count, peak, slowest_ms
    from json_to_recordset($1) as listed (
      "from" timestamptz, partner_id text, key_id text, operation text, code text, count bigint, peak integer,
      slowest_ms integer
    )
    order by "from", partner_id collate "C", key_id collate "C", operation collate "C", code collate "C"
    on conflict (at, partner_id, key_id, operation, code) do update
    set count = least(usage.count, ${Number.MAX_SAFE_INTEGER} - excluded.count) + excluded.count,
      peak = greatest(usage.peak, excluded.peak),
      slowest_ms = greatest(usage.slowest_ms, excluded.slowest_ms)`,
};

const dayOf = `date_trunc('day', at, 'UTC')`;

/** `isSpread` says whether several nodes have the receipts. */
export function createReceipts(pool: Pool, isSpread: boolean): Journal {
  const write = async (statement: Statement, records: readonly object[]): Promise<void> => {
    await pool.query(statement, [JSON.stringify(records)]);
  };
  const { rows } = pool;

  /** Nodes that could not take receipts, and when each is tried again. */
  const away = new Map<unknown, number>();
  let failure: unknown;

  /** Leaves a node that failed alone for a while: all receipts wait for an attempt on a frozen node. */
  async function writePart(node: unknown, part: readonly Receipt[]): Promise<boolean> {
    if ((away.get(node) ?? 0) > performance.now()) return false;
    try {
      await write(insertReceipts, part);
      away.delete(node);
      return true;
    } catch (error) {
      failure = error;
      away.set(node, performance.now() + receiptsBounds.nodeRestMs);
      return false;
    }
  }

  /** Writes the receipts of each node in a statement of its own, so that one node cannot stop the others. */
  async function writeByNode(receipts: readonly Receipt[]): Promise<void> {
    const customers = JSON.stringify([...new Set(receipts.map(({ customer_id = '' }) => customer_id))]);
    const found = await rows(nodesOf, 'receipts', customers);
    const nodes = new Map(found.map(({ value, node }) => [value, node]));
    const rest: Receipt[] = [];
    for (const [node, part] of Map.groupBy(receipts, ({ customer_id = '' }) => nodes.get(customer_id))) {
      if (!(await writePart(node, part))) rest.push(...part);
    }
    if (rest.length > 0) throw new PartlyWritten(rest, failure);
  }

  return {
    ...createJournalReads(rows, { listed: 'json_array_elements_text($1)', dayOf }, rows),
    recordReceipts: async (receipts) => {
      if (away.size > 0) return writeByNode(receipts);
      await write(insertReceipts, receipts).catch((error) => {
        if (isSpread) return writeByNode(receipts);
        throw error;
      });
    },
    recordKeyUses: (uses) => write(upsertKeyUses, uses),
    recordUsage: (counts) => write(addUsage, counts),
  };
}
