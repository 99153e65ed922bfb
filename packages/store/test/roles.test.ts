/** The roles of the database: each can do what it is for, and nothing else. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { byTest, createdAt } from '../../testkit/fixtures/fixture.ts';
import { connectTo } from '../../testkit/servers/postgres.ts';
import { urlInRole } from '../../testkit/servers/roles.ts';
import { openTestDatabase } from '../../testkit/service/database.ts';
import { parseDatabaseUrl, toServe } from '../src/address.ts';
import { openStore } from '../src/engines.ts';
import type { Store } from '../src/port.ts';
import { type RoleName, roles } from '../src/postgres/roles.ts';
import { exported } from './suite/exports.ts';
import { receiptAt } from './suite/receipts.ts';
import { brandRow, grant, plainBalance, plainBrand, writeRows } from './suite/records.ts';

const key = { id: 'k', partner_id: 'acme', last_four: 'abcd', created_at: createdAt };
const scopes = ['BRANDS_READ'] as const;
const digest = (fill: number) => new Uint8Array(32).fill(fill);
const usage = { from: createdAt, partner_id: 'acme', key_id: 'k', operation: 'o', code: 'OK', count: 1 };
const later = '2999-01-01T00:00:00.000Z';

const adminKey = { id: 'a', name: 'ci', role: 'ADMIN', last_four: 'abcd', created_at: createdAt } as const;
const replacement = { last_four: 'wxyz', digest: digest(3), overlapMs: 0 };
const operators: readonly RoleName[] = ['network_operate', 'network_admin'];
const support: readonly RoleName[] = [...operators, 'network_support'];
const imports: readonly RoleName[] = [...operators, 'network_import'];
const deletion = { customer_id: 'alice', id: 'a', deleted_at: createdAt };
const newPartner = { id: 'new', name: 'N', created_at: createdAt };

type Deed = readonly [what: string, deed: (store: Store) => Promise<unknown>, ...RoleName[]];

/** A change or a question, and the roles that can do it. */
const deeds: readonly Deed[] = [
  ['write a receipt', (store) => store.recordReceipts([receiptAt(0)]), 'network_serve'],
  ['count usage', (store) => store.recordUsage([usage]), 'network_serve'],
  ['find a key by its digest', (store) => store.findKey(digest(1)), ...support, 'network_serve'],
  ['read cursor keys', (store) => store.cursorKeys(), ...operators, 'network_serve'],
  ['read the key of sessions', (store) => store.sessionKeys(), 'network_admin'],
  ...(['brands', 'balances', 'grants'] as const).map(
    (kind): Deed => [`import ${kind}`, (store) => writeRows(store, kind, [rowOf[kind]]), ...imports],
  ),
  ['delete a balance by a line', (store) => writeRows(store, 'balances', [deletion]), ...imports],
  ['export balances', (store) => exported(store, 'balances'), ...imports, 'network_serve'],
  ['list keys', (store) => store.listKeys('acme'), ...support, 'network_serve'],
  ['list receipts', (store) => store.listReceipts({ limit: 1 }), ...support, 'network_retention'],
  ['list changes', (store) => store.listAudit({ limit: 1 }), ...support],
  [
    'revoke a grant',
    (store) => store.revokeGrant('alice', 'g', createdAt, byTest),
    ...support,
    'network_import',
  ],
  ['disable a partner', (store) => store.setPartnerDisabled('acme', createdAt, byTest), ...support],
  // While the key works: on Citus, only the insert of the new key is refused.
  ['rotate a key', (store) => store.rotateKey('k', { ...replacement, id: 'k3' }, byTest), ...operators],
  ['revoke a key', (store) => store.revokeKey('k', createdAt, byTest), ...support],
  ['enable a partner', (store) => store.setPartnerDisabled('acme', undefined, byTest), ...operators],
  ['lower a limit', (store) => limit(store, { brands: 50, balances: 9_999 }), ...support],
  ['lower it again', (store) => limit(store, { brands: 49, balances: 1 }), ...support],
  ['raise the limit of brands', (store) => limit(store, { brands: 50 }), ...operators],
  ['raise the limit of balances', (store) => limit(store, { balances: 2 }), ...operators],
  ['remove the limit of brands', (store) => limit(store, { brands: null }), ...operators],
  ['remove the limit of balances', (store) => limit(store, { balances: null }), ...operators],
  ['set a limit above the default', (store) => limit(store, { brands: 51 }, 'zenith'), ...operators],
  ['rename a partner', (store) => store.renamePartner('acme', 'A', 'B', byTest), ...operators],
  ['create a partner', (store) => store.createPartner(newPartner, byTest), ...operators],
  ['create a key', (store) => store.createKey({ ...key, id: 'k2', scopes }, digest(2), byTest), ...operators],
  ['create a grant', (store) => store.createGrant({ ...grant, id: 'new' }, byTest), ...imports],
  ['move partners', (store) => store.partnersWithKeys(), ...support, 'network_serve'],
  ['rotate the cursor key', (store) => store.rotateCursorKey('discard', byTest), 'network_operate'],
  ['erase a customer', (store) => store.eraseCustomer('alice', byTest), ...operators],
  ['find an administrative key by its digest', (store) => store.findAdminKey(digest(1)), ...support],
  [
    'create an administrative key',
    (store) => store.createAdminKey({ ...adminKey, id: 'a2' }, digest(2), byTest),
    'network_operate',
  ],
  [
    'rotate an administrative key',
    (store) => store.rotateAdminKey('a', { ...replacement, id: 'a3' }, byTest),
    'network_operate',
  ],
  [
    'revoke an administrative key',
    (store) => store.revokeAdminKey('a', createdAt, byTest),
    'network_support',
    'network_operate',
  ],
  [
    'record the last use of a key',
    (store) => store.recordKeyUses([{ keyId: 'a', usedAt: createdAt }]),
    'network_serve',
    'network_admin',
  ],
  ['end a session', (store) => store.endSession(digest(1), later), 'network_admin'],
  ['find the end of a session', (store) => store.isSessionEnded(digest(1)), 'network_admin'],
  ['delete usage', (store) => store.prune('usage', later, byTest), 'network_retention'],
  ['delete receipts', (store) => store.prune('receipts', later, byTest), 'network_retention'],
];

const limit = (store: Store, limits: Limits, id = 'acme') => store.limitPartner(id, limits, byTest);
type Limits = Parameters<Store['limitPartner']>[1];

const rowOf = {
  brands: brandRow('acme', plainBrand('b')),
  balances: plainBalance('alice', 'b'),
  grants: { ...grant, id: 'imported' },
};

/** A database with one of each record, and a function that opens it in a role. */
async function scene(t: TestContext) {
  const { store: owner, url } = await openTestDatabase(t, 'nothing', async () => {}, 'postgres');
  await owner.createPartner({ id: 'acme', name: 'A', created_at: createdAt }, byTest);
  await owner.createPartner({ id: 'zenith', name: 'Z', created_at: createdAt }, byTest);
  await owner.createKey({ ...key, scopes }, digest(1), byTest);
  await owner.createAdminKey(adminKey, digest(1), byTest);
  await owner.createGrant(grant, byTest);
  await writeRows(owner, 'balances', [plainBalance('alice', 'a')]);
  await owner.recordReceipts([receiptAt(1)]);
  await owner.recordUsage([usage]);
  return { as: (role: RoleName) => urlInRole(t, url, role) };
}

for (const role of Object.keys(roles) as RoleName[]) {
  test(`${role} can do what it is for, and nothing else`, async (t) => {
    const { as } = await scene(t);
    const inRole = await as(role);
    const options = role === 'network_serve' ? toServe : {};
    const store = await openStore(parseDatabaseUrl(inRole)!, 'sandbox', options);
    t.after(() => store.close());
    const client = await connectTo(t, inRole);
    const { rowCount } = await client.query(`select from pg_extension where extname = 'citus'`);
    for (const [what, deed, ...able] of deeds) {
      // Citus has no privileges on columns: docs/how-to/operators/separate-duties.md.
      if (rowCount === 1 && role === 'network_support' && what === 'rename a partner') continue;
      if (able.includes(role)) await assert.doesNotReject(() => deed(store), `${role} cannot ${what}`);
      else
        await assert.rejects(
          () => deed(store),
          /permission denied|may disable|may lower/,
          `${role} can ${what}`,
        );
    }
    for (const statement of [
      ...[
        'delete from audit_log',
        `update audit_log set actor = 'x'`,
        'truncate audit_log',
        'delete from api_keys',
        'delete from admin_keys',
      ],
      `insert into audit_log (at, actor, action, target, details, db_user) values (now(), 'a', 'b', 'c', '{}', 'x')`,
      'update api_keys set revoked_at = null',
      `update admin_keys set role = 'ADMIN', revoked_at = null`,
      'alter table api_keys disable trigger all',
    ]) {
      await assert.rejects(
        client.query(statement),
        /denied|must be owner|(api|admin)_keys: a key/,
        statement,
      );
    }
  });
}
