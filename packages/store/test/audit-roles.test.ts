/** The roles of move-to-postgres.md: `serve` cannot write audit entries, operators' commands can. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { migratedDatabase } from '../../testkit/fixtures/database.ts';
import { byTest, createdAt } from '../../testkit/fixtures/fixture.ts';
import { connectTo } from '../../testkit/servers/postgres.ts';
import { afterAllElse } from '../../testkit/servers/postgres-start.ts';
import { parseDatabaseUrl } from '../src/address.ts';
import { openStore } from '../src/engines.ts';
import { receiptAt } from './suite/receipts.ts';
import { brandRow, grant, plainBalance, plainBrand, writeRows } from './suite/records.ts';

const page = new URL('../../../docs/how-to/operators/move-to-postgres.md', import.meta.url);

/** A new role with the privileges that the page grants to a role, and the address for it. */
async function newRole(t: TestContext, url: string, documented: string): Promise<string> {
  const name = `partner_network_test_${randomBytes(8).toString('hex')}`;
  const owner = await connectTo(t, url);
  const password = decodeURIComponent(new URL(url).password).replaceAll("'", "''");
  await owner.query(`create role ${name} login password '${password}'`);
  const grants = readFileSync(page, 'utf8').match(/^grant .*;$/gm) ?? [];
  for (const text of grants.filter((line) => line.endsWith(` ${documented};`)))
    await owner.query(text.replace(documented, name));
  afterAllElse(t, async () => {
    const last = await connectTo(
      { after: () => {} },
      Object.assign(new URL(url), { pathname: 'postgres' }).href,
    );
    await last.query(`drop role ${name}`);
    await last.end();
  });
  return Object.assign(new URL(url), { username: name }).href;
}

async function openAs(t: TestContext, url: string, purpose: 'serve' | 'command') {
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox', purpose);
  t.after(() => store.close());
  return store;
}

const denied = /permission denied for table/;

test('the role of serve cannot write or change audit entries, and so cannot change anything', async (t) => {
  const url = await migratedDatabase(t);
  const role = await newRole(t, url, 'network_serve');
  const store = await openAs(t, role, 'serve');
  await store.recordReceipts([receiptAt(0)]);
  await assert.rejects(store.createPartner({ id: 'acme', name: 'A', created_at: createdAt }, byTest), denied);
  const client = await connectTo(t, role);
  const columns = '(at, actor, action, target, details)';
  const entry = `insert into audit_log ${columns} values (now(), 'a', 'b', 'c', '{}')`;
  for (const statement of [
    entry,
    'delete from audit_log',
    `update audit_log set actor = 'x'`,
    'truncate audit_log',
  ])
    await assert.rejects(client.query(statement), denied, statement);
});

test("the role of operators' commands can run each of them, and change no audit entry", async (t) => {
  const url = await migratedDatabase(t);
  const role = await newRole(t, url, 'network_operate');
  const store = await openAs(t, role, 'command');
  await store.writePartnersWithKeys(
    [{ id: 'acme', name: 'A', created_at: createdAt, keys: [] }],
    byTest,
    'keep',
  );
  const key = { id: 'k', partner_id: 'acme', last_four: 'abcd', created_at: createdAt };
  await store.createKey({ ...key, scopes: ['BRANDS_READ'] }, new Uint8Array(32), byTest);
  await store.revokeKey('k', createdAt, byTest);
  await store.createGrant(grant, byTest);
  await writeRows(store, 'brands', [brandRow('acme', plainBrand('b'))]);
  await writeRows(store, 'balances', [plainBalance('alice', 'a')]);
  await store.eraseCustomer('alice', byTest);
  await store.importErasures([{ customer_id: 'zoe', erased_at: createdAt }], byTest);
  await store.rotateCursorKey('discard', byTest);
  const owner = await openAs(t, url, 'command');
  await owner.recordReceipts([receiptAt(0)]);
  assert.equal(await store.pruneReceipts('2999-01-01T00:00:00.000Z', byTest), 1);
  assert.equal((await store.lastUses(['k'])).size, 0);
  assert.ok((await store.listAudit({ limit: 100 })).length >= 7);
  const client = await connectTo(t, role);
  for (const statement of ['delete from audit_log', `update audit_log set actor = 'x'`, 'truncate audit_log'])
    await assert.rejects(client.query(statement), denied, statement);
});
