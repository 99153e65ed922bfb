/** Receipts are read and deleted by an index, so the cost does not grow with their number. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { byTest } from '../../testkit/fixtures/fixture.ts';
import { connectTo } from '../../testkit/servers/postgres.ts';
import { migratedDatabase } from '../../testkit/service/database.ts';
import type { ReceiptsQuery } from '../src/port.ts';
import { createReceiptReads } from '../src/sql/journal.ts';
import type { Value } from '../src/sql/statement.ts';
import { migrate, receiptsSchema } from '../src/sqlite/migrate.ts';
import { receiptAt } from './suite/receipts.ts';

const since = '2026-06-02T00:00:00.000Z';
const after = receiptAt(2 * 86_400_000);

/** Queries, and the index that each engine uses for them. */
const queries: readonly [Omit<ReceiptsQuery, 'limit'>, postgres: string, sqlite: string][] = [
  [{}, 'receipts_by_time', 'PRIMARY KEY'],
  [{ since, after }, 'receipts_by_time', 'PRIMARY KEY'],
  [{ partnerId: 'p7', since, after }, 'receipts_of_partner', 'receipts_of_partner'],
  [{ partnerId: 'p7', keyId: 'KEY_2', since, after }, 'receipts_of_partner', 'receipts_of_partner'],
  [{ customerId: 'c7', since, after }, 'receipts_pkey', 'receipts_of_customer'],
  [{ partnerId: 'p7', customerId: 'c7', after }, 'receipts_pkey', 'receipts_of_customer'],
  [{ requestId: after.request_id, partnerId: 'p7' }, 'receipts_by_request', 'receipts_by_request'],
  [{ outcome: 'GRANT_REVOKED', partnerId: 'p7', since, after }, 'receipts_refused', 'receipts_refused'],
  [{ outcome: 'GRANT_REVOKED', customerId: 'c7' }, 'receipts_pkey', 'receipts_of_customer'],
  [{ outcome: 'GRANTED', since }, 'receipts_by_time', 'PRIMARY KEY'],
];

type Statement = readonly [text: string, ...values: Value[]];

/** The statements that the work runs. */
async function statementsOf(
  work: (reads: ReturnType<typeof createReceiptReads>) => Promise<unknown>,
): Promise<Statement[]> {
  const statements: Statement[] = [];
  const rows = async (...statement: Statement) => {
    statements.push(statement);
    // One receipt is left to delete until the delete ran.
    return statement[0].startsWith('select count') ? [{ found: 1 }] : [];
  };
  await work(createReceiptReads(rows, '', async () => []));
  return statements;
}

test('Postgres reads and deletes receipts by an index', async (t) => {
  const client = await connectTo(t, await migratedDatabase(t));
  await client.query(`
    insert into receipts (customer_id, at, request_id, partner_id, key_id, outcome)
    select 'c' || n % 1000, '2026-06-01Z'::timestamptz + n * interval '10 seconds', gen_random_uuid(),
      'p' || n % 400, 'KEY_1', 'GRANTED'
    from generate_series(1, 30000) as n;
    analyze receipts`);
  const planOf = async ([text, ...values]: Statement) => {
    const { rows } = await client.query(`explain ${text}`, values);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  for (const [query, index] of queries) {
    const [statement] = await statementsOf((reads) => reads.listReceipts({ ...query, limit: 50 }));
    const plan = await planOf(statement!);
    assert.match(plan, new RegExp(`(using|on) ${index} `), plan);
    assert.doesNotMatch(plan, /Seq Scan/);
  }
  for (const statement of await statementsOf((reads) =>
    reads.pruneReceipts('2026-06-01T00:10:00.000Z', byTest),
  )) {
    // The first one only needs the privilege.
    if (!statement[0].includes('where false')) assert.match(await planOf(statement), /receipts_by_time/);
  }
});

test('the embedded database reads and deletes receipts by an index', async (t) => {
  const db = new DatabaseSync(':memory:');
  t.after(() => db.close());
  migrate(db, 'sandbox', receiptsSchema);
  const planOf = ([text]: Statement) =>
    db
      .prepare(`explain query plan ${text}`)
      .all()
      .map(({ detail }) => String(detail))
      .join('\n');
  for (const [query, , index] of queries) {
    const [statement] = await statementsOf((reads) => reads.listReceipts({ ...query, limit: 50 }));
    const plan = planOf(statement!);
    // Without a condition it reads the table from its end, and stops at the limit.
    if (Object.keys(query).length > 0)
      assert.match(plan, new RegExp(`SEARCH receipts USING (INDEX )?${index}`), plan);
    assert.doesNotMatch(plan, /TEMP B-TREE/);
  }
  for (const statement of await statementsOf((reads) => reads.pruneReceipts(since, byTest))) {
    if (statement[0].includes('where false')) continue;
    assert.match(planOf(statement), /SEARCH receipts USING PRIMARY KEY \(at<\?\)/);
  }
});
