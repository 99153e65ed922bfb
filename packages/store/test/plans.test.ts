/** What operators ask is answered by an index, so the cost does not grow with the tables. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { Client } from 'pg';
import { byTest, createdAt } from '../../testkit/fixtures/fixture.ts';
import { connectTo } from '../../testkit/servers/postgres.ts';
import { migratedDatabase } from '../../testkit/service/database.ts';
import type { Accounts, AuditLog, ReceiptsQuery } from '../src/port.ts';
import { createAccounts } from '../src/sql/accounts.ts';
import { createAuditLog } from '../src/sql/audit.ts';
import { createJournalReads } from '../src/sql/journal.ts';
import type { BoundStatement } from '../src/sql/statement.ts';
import { migrate, receiptsSchema } from '../src/sqlite/migrate.ts';
import { receiptAt } from './suite/receipts.ts';

type Questions = Accounts & AuditLog;
type Question = (store: Questions) => Promise<unknown>;

const at = '2026-06-02T00:00:00.000Z';
const after = { seq: 7, at, actor: 'a7', action: 'keys revoke', target: 't7', details: {} } as const;
const primary = 'PRIMARY KEY';
const grantsOfCustomer = 'grants_pkey|grants_of_customer';

/** Questions and changes, the index that Postgres uses for them, and another one of the embedded database. */
const questions: readonly [Question, index: string, sqlite?: string][] = [
  [(store) => store.findGrants('g7'), 'grants_by_id'],
  [(store) => store.listGrants({ partnerId: 'p7', at }), 'grants_of_partner'],
  [(store) => store.listGrants({ partnerId: 'p7', status: 'REVOKED', at }), 'grants_of_partner'],
  [(store) => store.listGrants({ partnerId: 'p7', status: 'ACTIVE', at }), 'grants_of_partner'],
  [(store) => store.listGrants({ customerId: 'c7', status: 'EXPIRED', at }), 'grants_of_customer', primary],
  [(store) => store.listGrants({ customerId: 'c7', partnerId: 'p7', at }), grantsOfCustomer, primary],
  [(store) => store.revokeGrants('c7', at, byTest), grantsOfCustomer, `${primary}|grants_of`],
  [(store) => store.revokeGrant('c7', 'g7', at, byTest), 'grants_pkey', primary],
  [(store) => store.eraseCustomer('c7', byTest), 'balances_pkey', primary],
  [(store) => store.importErasures([{ customer_id: 'c7', erased_at: at }], byTest), 'balances_pkey', primary],
  [(store) => store.findBrands('b7'), 'brands_pkey', primary],
  [(store) => store.listKeys('p7'), 'api_keys_of_partner'],
  [(store) => store.listAudit({ since: createdAt, after, limit: 50 }), 'audit_log_by_time'],
  [(store) => store.listAudit({ target: 't7', actor: 'a7', limit: 50 }), 'audit_log_of_target'],
  [(store) => store.listAudit({ actor: 'a7', action: 'x7', after, limit: 9 }), 'audit_log_of_actor'],
  [(store) => store.listAudit({ action: 'x7', until: at, limit: 50 }), 'audit_log_of_action'],
];

async function planOnPostgres(client: Client, [text, ...values]: BoundStatement): Promise<string> {
  const { rows } = await client.query(`explain ${text}`, values);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** An empty embedded database: its plans do not depend on its rows. */
function openEmbedded(t: TestContext, schema?: typeof receiptsSchema) {
  const db = new DatabaseSync(':memory:');
  t.after(() => db.close());
  migrate(db, 'sandbox', schema);
  return ([text]: BoundStatement) => {
    const steps = db.prepare(`explain query plan ${text}`).all();
    return steps.map(({ detail }) => String(detail)).join('\n');
  };
}

/** The first statement of a question. */
async function statementOf(ask: Question): Promise<BoundStatement> {
  const statements: BoundStatement[] = [];
  const rows = async (...statement: BoundStatement) => {
    statements.push(statement);
    return [];
  };
  const sql = {
    rows,
    transaction: async <Result>(steps: () => Generator<BoundStatement, Result>) => {
      statements.push(steps().next().value as BoundStatement);
      return undefined as Result;
    },
  };
  await ask({ ...createAccounts(sql), ...createAuditLog(sql, 'select', () => 'select') });
  return statements[0]!;
}

test('Postgres answers the questions of operators by an index', async (t) => {
  const client = await connectTo(t, await migratedDatabase(t));
  await client.query(`
    insert into partners (id, name, created_at) select 'p' || n, 'P', now() from generate_series(0, 399) as n;
    insert into api_keys (id, partner_id, digest, last_four, scopes, created_at)
    select 'k' || n, 'p' || n % 400, sha256(n::text::bytea), 'abcd', 'BRANDS_READ', now()
    from generate_series(1, 3000) as n;
    insert into grants (customer_id, id, partner_id, action, status, created_at, updated_at)
    select 'c' || n % 3000, 'g' || n, 'p' || n % 400, 'CHECKING_BALANCE', 'ACTIVE', now(), now()
    from generate_series(1, 10000) as n;
    insert into balances (customer_id, id, type, currency, amount, created_at, updated_at)
    select 'c' || n % 3000, 'b' || n, 'CHECKING', 'USD', n, now(), now() from generate_series(1, 10000) as n;
    insert into brands (partner_id, id, name, reference_id, created_at, updated_at)
    select 'p' || n % 400, 'b' || n, 'B', 'r', now(), now() from generate_series(1, 10000) as n;
    alter table audit_log disable trigger audit_log_is_signed;
    insert into audit_log (at, actor, action, target, details)
    select '2026-06-01Z'::timestamptz + n * interval '10 s', 'a' || n % 100, 'x' || n % 100, 't' || n, '{}'
    from generate_series(1, 10000) as n;
    analyze`);
  for (const [ask, index] of questions) {
    const statement = await statementOf(ask);
    const plan = await planOnPostgres(client, statement);
    assert.match(plan, new RegExp(`(using|on) (${index})`), `${statement[0]}\n${plan}`);
    // A brand is searched with the key of each partner. There are few partners.
    assert.doesNotMatch(plan, /Seq Scan(?! on partners)/, statement[0]);
  }
});

test('the embedded database answers the questions of operators by an index', async (t) => {
  const planOf = openEmbedded(t);
  for (const [ask, ofPostgres, index = ofPostgres] of questions) {
    const statement = await statementOf(ask);
    const plan = planOf(statement);
    const search = new RegExp(`^SEARCH \\w+ USING (INDEX |COVERING INDEX )?(${index})`);
    assert.match(plan, search, `${statement[0]}\n${plan}`);
  }
});

const afterReceipt = receiptAt(2 * 86_400_000);

/** Queries of receipts, and the index that each engine uses for them. */
const queries: readonly [Omit<ReceiptsQuery, 'limit'>, postgres: string, sqlite: string][] = [
  [{}, 'receipts_by_time', primary],
  [{ since: at, after: afterReceipt }, 'receipts_by_time', primary],
  [{ partnerId: 'p7', since: at, after: afterReceipt }, 'receipts_of_partner', 'receipts_of_partner'],
  [
    { partnerId: 'p7', keyId: 'KEY_2', since: at, after: afterReceipt },
    'receipts_of_partner',
    'receipts_of_partner',
  ],
  [{ customerId: 'c7', since: at, after: afterReceipt }, 'receipts_pkey', 'receipts_of_customer'],
  [{ partnerId: 'p7', customerId: 'c7', after: afterReceipt }, 'receipts_pkey', 'receipts_of_customer'],
  [{ requestId: afterReceipt.request_id, partnerId: 'p7' }, 'receipts_by_request', 'receipts_by_request'],
  [
    { outcome: 'GRANT_REVOKED', partnerId: 'p7', since: at, after: afterReceipt },
    'receipts_refused',
    'receipts_refused',
  ],
  [{ outcome: 'GRANT_REVOKED', customerId: 'c7' }, 'receipts_pkey', 'receipts_of_customer'],
  [{ outcome: 'GRANTED', since: at }, 'receipts_by_time', primary],
];

/** The statements that the work runs. */
async function receiptStatementsOf(
  work: (reads: ReturnType<typeof createJournalReads>) => Promise<unknown>,
): Promise<BoundStatement[]> {
  const statements: BoundStatement[] = [];
  const rows = async (...statement: BoundStatement) => {
    statements.push(statement);
    // One receipt is left to delete until the delete ran.
    return statement[0].startsWith('select count') ? [{ found: 1 }] : [];
  };
  await work(createJournalReads(rows, { listed: '', dayOf: '' }, async () => []));
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
  for (const [query, index] of queries) {
    const [statement] = await receiptStatementsOf((reads) => reads.listReceipts({ ...query, limit: 50 }));
    const plan = await planOnPostgres(client, statement!);
    assert.match(plan, new RegExp(`(using|on) ${index} `), plan);
    assert.doesNotMatch(plan, /Seq Scan/);
  }
  const pruning = await receiptStatementsOf((reads) =>
    reads.prune('receipts', '2026-06-01T00:10:00.000Z', byTest),
  );
  for (const statement of pruning) {
    // The first one only needs the privilege.
    if (statement[0].includes('where false')) continue;
    assert.match(await planOnPostgres(client, statement), /receipts_by_time/);
  }
});

test('the embedded database reads and deletes receipts by an index', async (t) => {
  const planOf = openEmbedded(t, receiptsSchema);
  for (const [query, , index] of queries) {
    const [statement] = await receiptStatementsOf((reads) => reads.listReceipts({ ...query, limit: 50 }));
    const plan = planOf(statement!);
    // Without a condition it reads the table from its end, and stops at the limit.
    if (Object.keys(query).length > 0)
      assert.match(plan, new RegExp(`SEARCH receipts USING (INDEX )?${index}`), plan);
    assert.doesNotMatch(plan, /TEMP B-TREE/);
  }
  for (const statement of await receiptStatementsOf((reads) => reads.prune('receipts', at, byTest))) {
    if (statement[0].includes('where false')) continue;
    assert.match(planOf(statement), /SEARCH receipts USING PRIMARY KEY \(at<\?\)/);
  }
});
