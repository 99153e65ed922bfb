/** The roles of the database: each can do what it is for, and nothing else. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { migratedDatabase } from '../../testkit/fixtures/database.ts';
import { byTest, createdAt } from '../../testkit/fixtures/fixture.ts';
import { connectTo } from '../../testkit/servers/postgres.ts';
import { urlInRole } from '../../testkit/servers/roles.ts';
import { parseDatabaseUrl } from '../src/address.ts';
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

/** A change or a question, and the roles that can do it. `network_operate` does all but the last. */
const deeds: readonly [what: string, deed: (store: Store) => Promise<unknown>, ...RoleName[]][] = [
  ['write a receipt', (store) => store.recordReceipts([receiptAt(0)]), 'network_serve'],
  ['count usage', (store) => store.recordUsage([usage]), 'network_serve'],
  [
    'find a key by its digest',
    (store) => store.findKey(digest(1)),
    'network_serve',
    'network_operate',
    'network_support',
  ],
  ['read cursor keys', (store) => store.cursorKeys(), 'network_serve', 'network_operate'],
  ...(['brands', 'balances', 'grants'] as const).map((kind): (typeof deeds)[number] => [
    `import ${kind}`,
    (store) => writeRows(store, kind, [rowOf[kind]]),
    'network_import',
    'network_operate',
  ]),
  [
    'delete a balance by a line',
    (store) => writeRows(store, 'balances', [{ customer_id: 'alice', id: 'a', deleted_at: createdAt }]),
    'network_import',
    'network_operate',
  ],
  [
    'export balances',
    (store) => exported(store, 'balances'),
    'network_import',
    'network_operate',
    'network_serve',
  ],
  ['list keys', (store) => store.listKeys('acme'), 'network_support', 'network_operate', 'network_serve'],
  [
    'list receipts',
    (store) => store.listReceipts({ limit: 1 }),
    'network_support',
    'network_operate',
    'network_retention',
  ],
  ['list changes', (store) => store.listAudit({ limit: 1 }), 'network_support', 'network_operate'],
  [
    'revoke a grant',
    (store) => store.revokeGrant('alice', 'g', createdAt, byTest),
    'network_support',
    'network_operate',
    'network_import',
  ],
  [
    'disable a partner',
    (store) => store.setPartnerDisabled('acme', createdAt, byTest),
    'network_support',
    'network_operate',
  ],
  ['revoke a key', (store) => store.revokeKey('k', createdAt, byTest), 'network_support', 'network_operate'],
  ['enable a partner', (store) => store.setPartnerDisabled('acme', undefined, byTest), 'network_operate'],
  ['rename a partner', (store) => store.renamePartner('acme', 'A', 'B', byTest), 'network_operate'],
  [
    'create a partner',
    (store) => store.createPartner({ id: 'new', name: 'N', created_at: createdAt }, byTest),
    'network_operate',
  ],
  [
    'create a key',
    (store) => store.createKey({ ...key, id: 'k2', scopes }, digest(2), byTest),
    'network_operate',
  ],
  [
    'rotate a key',
    (store) => store.rotateKey('k', { id: 'k3', last_four: 'wxyz', digest: digest(3), overlapMs: 0 }, byTest),
    'network_operate',
  ],
  [
    'create a grant',
    (store) => store.createGrant({ ...grant, id: 'new' }, byTest),
    'network_operate',
    'network_import',
  ],
  [
    'move partners',
    (store) => store.partnersWithKeys(),
    'network_operate',
    'network_serve',
    'network_support',
  ],
  ['rotate the cursor key', (store) => store.rotateCursorKey('discard', byTest), 'network_operate'],
  ['erase a customer', (store) => store.eraseCustomer('alice', byTest), 'network_operate'],
  ['delete usage', (store) => store.pruneUsage(later, byTest), 'network_retention'],
  ['delete receipts', (store) => store.pruneReceipts(later, byTest), 'network_retention'],
];

const rowOf = {
  brands: brandRow('acme', plainBrand('b')),
  balances: plainBalance('alice', 'b'),
  grants: { ...grant, id: 'imported' },
};

/** A database with one of each record, and a function that opens it in a role. */
async function scene(t: TestContext) {
  const url = await migratedDatabase(t);
  const owner = await openStore(parseDatabaseUrl(url)!, 'sandbox', 'command');
  t.after(() => owner.close());
  await owner.createPartner({ id: 'acme', name: 'A', created_at: createdAt }, byTest);
  await owner.createKey({ ...key, scopes }, digest(1), byTest);
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
    const purpose = role === 'network_serve' ? 'serve' : 'command';
    const store = await openStore(parseDatabaseUrl(inRole)!, 'sandbox', purpose);
    t.after(() => store.close());
    for (const [what, deed, ...able] of deeds) {
      if (able.includes(role)) await assert.doesNotReject(() => deed(store), `${role} cannot ${what}`);
      else await assert.rejects(() => deed(store), /permission denied|may disable/, `${role} can ${what}`);
    }
    const client = await connectTo(t, inRole);
    for (const statement of [
      ...[
        'delete from audit_log',
        `update audit_log set actor = 'x'`,
        'truncate audit_log',
        'delete from api_keys',
      ],
      `insert into audit_log (at, actor, action, target, details, db_user) values (now(), 'a', 'b', 'c', '{}', 'x')`,
      'update api_keys set revoked_at = null',
      'alter table api_keys disable trigger all',
    ]) {
      await assert.rejects(client.query(statement), /denied|must be owner|api_keys: a key/, statement);
    }
  });
}
