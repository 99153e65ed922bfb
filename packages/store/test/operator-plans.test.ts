/** The questions of operators are answered by an index, so the cost does not grow with the tables. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { byTest, createdAt } from '../../testkit/fixtures/fixture.ts';
import { connectTo } from '../../testkit/servers/postgres.ts';
import { migratedDatabase } from '../../testkit/service/database.ts';
import type { Accounts, AuditLog } from '../src/port.ts';
import { createAccounts } from '../src/sql/accounts.ts';
import { createAuditLog } from '../src/sql/audit.ts';
import type { BoundStatement } from '../src/sql/statement.ts';
import { migrate } from '../src/sqlite/migrate.ts';

type Questions = Accounts & AuditLog;
type Question = (store: Questions) => Promise<unknown>;

const at = '2026-06-02T00:00:00.000Z';
const after = { seq: 7, at, actor: 'a7', action: 'keys revoke', target: 't7', details: {} } as const;

/** Questions and changes, and the index that each engine uses for them. */
const questions: readonly [Question, postgres: string, sqlite: string][] = [
  [(store) => store.findGrants('g7'), 'grants_by_id', 'grants_by_id'],
  [(store) => store.listGrants({ partnerId: 'p7', at }), 'grants_of_partner', 'grants_of_partner'],
  [
    (store) => store.listGrants({ partnerId: 'p7', status: 'REVOKED', at }),
    'grants_of_partner',
    'grants_of_partner',
  ],
  [
    (store) => store.listGrants({ partnerId: 'p7', status: 'ACTIVE', at }),
    'grants_of_partner',
    'grants_of_partner',
  ],
  [
    (store) => store.listGrants({ customerId: 'c7', status: 'EXPIRED', at }),
    'grants_of_customer',
    'PRIMARY KEY',
  ],
  [
    (store) => store.listGrants({ customerId: 'c7', partnerId: 'p7', at }),
    'grants_pkey|grants_of_customer',
    'PRIMARY KEY',
  ],
  [
    (store) => store.revokeGrants('c7', at, byTest),
    'grants_pkey|grants_of_customer',
    'PRIMARY KEY|grants_of',
  ],
  [(store) => store.revokeGrant('c7', 'g7', at, byTest), 'grants_pkey', 'PRIMARY KEY'],
  [(store) => store.eraseCustomer('c7', byTest), 'balances_pkey', 'PRIMARY KEY'],
  [
    (store) => store.importErasures([{ customer_id: 'c7', erased_at: at }], byTest),
    'balances_pkey',
    'PRIMARY KEY',
  ],
  [(store) => store.findBrands('b7'), 'brands_pkey', 'PRIMARY KEY'],
  [(store) => store.listKeys('p7'), 'api_keys_of_partner', 'api_keys_of_partner'],
  [
    (store) => store.listAudit({ since: createdAt, after, limit: 50 }),
    'audit_log_by_time',
    'audit_log_by_time',
  ],
  [
    (store) => store.listAudit({ target: 't7', actor: 'a7', limit: 50 }),
    'audit_log_of_target',
    'audit_log_of_target',
  ],
  [
    (store) => store.listAudit({ actor: 'a7', action: 'x7', after, limit: 9 }),
    'audit_log_of_actor',
    'audit_log_of_actor',
  ],
  [
    (store) => store.listAudit({ action: 'x7', until: at, limit: 50 }),
    'audit_log_of_action',
    'audit_log_of_action',
  ],
];

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
    const [text, ...values] = await statementOf(ask);
    const { rows } = await client.query(`explain ${text}`, values);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.match(plan, new RegExp(`(using|on) (${index})`), `${text}\n${plan}`);
    // A brand is searched with the key of each partner. There are few partners.
    assert.doesNotMatch(plan, /Seq Scan(?! on partners)/, text);
  }
});

test('the embedded database answers the questions of operators by an index', async (t) => {
  const db = new DatabaseSync(':memory:');
  t.after(() => db.close());
  migrate(db, 'sandbox');
  for (const [ask, , index] of questions) {
    const [text] = await statementOf(ask);
    const plan = db
      .prepare(`explain query plan ${text}`)
      .all()
      .map(({ detail }) => String(detail))
      .join('\n');
    assert.match(
      plan,
      new RegExp(`^SEARCH \\w+ USING (INDEX |COVERING INDEX )?(${index})`),
      `${text}\n${plan}`,
    );
  }
});
