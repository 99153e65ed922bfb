/** What operators ask is answered by an index, so the cost does not grow with the tables. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { byTest, createdAt } from '../../testkit/fixtures/fixture.ts';
import { connectTo } from '../../testkit/servers/postgres.ts';
import { migratedDatabase } from '../../testkit/service/database.ts';
import type { Journal, JournalWrites, ReceiptsQuery } from '../src/port.ts';
import { createManagement } from '../src/sql/accounts.ts';
import { createJournalReads } from '../src/sql/journal.ts';
import type { BoundStatement, Steps } from '../src/sql/statement.ts';
import { migrate, receiptsSchema } from '../src/sqlite/migrate.ts';
import { receiptAt } from './suite/receipts.ts';

type Questions = ReturnType<typeof createManagement> & Omit<Journal, keyof JournalWrites>;
type Question = (store: Questions) => Promise<unknown>;

const at = '2026-06-02T00:00:00.000Z';
const after = { seq: 7, at, actor: 'a7', action: 'keys revoke', target: 't7', details: {} } as const;
const primary = 'PRIMARY KEY';
const grantsOfCustomer = 'grants_pkey|grants_of_customer';

const afterReceipt = receiptAt(2 * 86_400_000);
/** The embedded database reads the table from its end, and stops at the limit. */
const fromTheEnd = '';

const receipts =
  (query: Omit<ReceiptsQuery, 'limit'>): Question =>
  (store) =>
    store.listReceipts({ ...query, limit: 50 });

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
  [(store) => store.listAudit({ partnerId: 'p7', actor: 'a7', limit: 50 }), 'audit_log_of_partner'],
  [(store) => store.listAudit({ customerId: 'c7', action: 'x7', after, limit: 9 }), 'audit_log_of_customer'],
  [(store) => store.listAudit({ actor: 'a7', action: 'x7', after, limit: 9 }), 'audit_log_of_actor'],
  [(store) => store.listAudit({ action: 'x7', until: at, limit: 50 }), 'audit_log_of_action'],
  [receipts({}), 'receipts_by_time', fromTheEnd],
  [receipts({ since: at, after: afterReceipt }), 'receipts_by_time', primary],
  [receipts({ partnerId: 'p7', since: at, after: afterReceipt }), 'receipts_of_partner'],
  [receipts({ partnerId: 'p7', keyId: 'KEY_2', since: at, after: afterReceipt }), 'receipts_of_partner'],
  [receipts({ customerId: 'c7', since: at, after: afterReceipt }), 'receipts_pkey', 'receipts_of_customer'],
  [receipts({ partnerId: 'p7', customerId: 'c7' }), 'receipts_pkey', 'receipts_of_customer'],
  [receipts({ requestId: afterReceipt.request_id, partnerId: 'p7' }), 'receipts_by_request'],
  [
    receipts({ outcome: 'GRANT_REVOKED', partnerId: 'p7', since: at, after: afterReceipt }),
    'receipts_refused',
  ],
  [receipts({ outcome: 'GRANT_REVOKED', customerId: 'c7' }), 'receipts_pkey', 'receipts_of_customer'],
  [
    (store) =>
      store.refusalTimes({
        partner_id: 'p7',
        key_id: 'KEY_2',
        outcome: 'GRANT_REVOKED',
        operation: 'listBalances',
        since: at,
      }),
    'receipts_refused_of_partner',
  ],
  [receipts({ outcome: 'GRANTED', since: at }), 'receipts_by_time', primary],
  [(store) => store.prune('receipts', '2026-06-01T00:10:00.000Z', byTest), 'receipts_by_time', primary],
];

/** The statements of a question; of a transaction, the first one. */
async function statementsOf(ask: Question): Promise<BoundStatement[]> {
  const statements: BoundStatement[] = [];
  const rows = async (...statement: BoundStatement) => {
    statements.push(statement);
    // One receipt is left to delete.
    return statement[0].startsWith('select count') ? [{ found: 1 }] : [];
  };
  const transaction = async <Result>(steps: Steps<Result>) => {
    statements.push(steps().next().value as BoundStatement);
    return undefined as Result;
  };
  const locks = { createGrant: [], eraseCustomer: [], rotateCursorKey: [] };
  const differences = { locks, transactions: '', auditInRanges: () => '' };
  await ask({
    ...createManagement({ rows, transaction }, differences),
    ...createJournalReads(rows, { listed: '', dayOf: '' }, async () => []),
  });
  // This one only needs the privilege.
  return statements.filter(([text]) => !text.includes('where false'));
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
    select '2026-06-01Z'::timestamptz + n * interval '10 s', 'a' || n % 100, 'x' || n % 100, 't' || n,
      json_build_object('partner_id', 'p' || n % 400, 'customer_id', 'c' || n)
    from generate_series(1, 10000) as n;
    insert into receipts (customer_id, at, request_id, partner_id, key_id, outcome)
    select 'c' || n % 1000, '2026-06-01Z'::timestamptz + n * interval '10 s', gen_random_uuid(),
      'p' || n % 400, 'KEY_1', case when n % 7 = 0 then 'GRANT_REVOKED' else 'GRANTED' end
    from generate_series(1, 30000) as n;
    analyze`);
  for (const [ask, index] of questions) {
    for (const [text, ...values] of await statementsOf(ask)) {
      const { rows } = await client.query(`explain ${text}`, values);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(plan, new RegExp(`(using|on) (${index}) `), `${text}\n${plan}`);
      // A brand is searched with the key of each partner. There are few partners.
      assert.doesNotMatch(plan, /Seq Scan(?! on partners)/, text);
    }
  }
});

test('the embedded database answers the questions of operators by an index', async (t) => {
  // Empty databases: the plans do not depend on the rows.
  const [database, receiptsFile] = [undefined, receiptsSchema].map((schema) => {
    const db = new DatabaseSync(':memory:');
    t.after(() => db.close());
    migrate(db, 'sandbox', schema);
    return db;
  });
  for (const [ask, ofPostgres, index = ofPostgres] of questions) {
    for (const [text] of await statementsOf(ask)) {
      const isOfReceipts = text.includes('from receipts');
      const steps = (isOfReceipts ? receiptsFile : database)!.prepare(`explain query plan ${text}`).all();
      const plan = steps.map(({ detail }) => String(detail)).join('\n');
      const search = new RegExp(`^SEARCH \\w+ USING (INDEX |COVERING INDEX )?(${index})`);
      if (index !== fromTheEnd) assert.match(plan, search, `${text}\n${plan}`);
      if (isOfReceipts) assert.doesNotMatch(plan, /TEMP B-TREE/, text);
    }
  }
});
