/** What /readyz and doctor say of a database that cannot be listed or written. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { postgresBounds } from '../../../common/src/bounds/store.ts';
import type { Finding } from '../../../common/src/finding.ts';
import { balancesUnderAnyGrant } from '../../../store/src/postgres/statements.ts';
import { createAdminKeys, startAdmin } from '../../../testkit/admin/started.ts';
import { fillFixture } from '../../../testkit/fixtures/fixture.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { startNetwork } from '../../../testkit/servers/network.ts';
import { connectTo } from '../../../testkit/servers/postgres.ts';
import { urlInRole } from '../../../testkit/servers/roles.ts';
import { migratedDatabase, openTestDatabase } from '../../../testkit/service/database.ts';
import { assertFinding, changed, findingsOf, instanceOn, newRole } from './examined.ts';

const slow = 'ready\nThe database is slow: the statements of the listings got no answer in time.\n';

test('without a privilege or a column of a listing, /readyz is 503 and doctor fails', async (t) => {
  const url = await migratedDatabase(t);
  const owner = await connectTo(t, url);
  const role = await newRole(t, url);
  await owner.query(`grant select, insert, update on all tables in schema public to ${role}`);
  const address = changed(url, { username: role });
  const { answer, lines } = await instanceOn(t, address);
  assert.equal(await answer(), 'ready\n');
  const nodes = async (): Promise<Finding> => {
    const { nodes: found } = await findingsOf(['--database', address, '--environment', 'sandbox']);
    // On a busy machine the statements can get no answer in time.
    return found!.detail.startsWith('The database is slow') ? nodes() : found!;
  };
  assertFinding(await nodes(), 'ok', /one node\. The statements of both listings run\.$/);

  await owner.query(`revoke select on grants from ${role}`);
  await until(20_000, async () => (await answer()) === 503);
  assert.match(lines().at(-1)!.err.message, /permission denied for table grants/);
  assertFinding(await nodes(), 'failed', /^The statements .* do not run\..* table grants/, /Fix/);
  await owner.query(`grant select on grants to ${role}; alter table brands rename record to json`);
  const namesIt = () => lines().at(-1)!.err.message.includes('"record"');
  await until(20_000, async () => (await answer()) === 503 && namesIt());
});

test('a busy pool and a locked table leave an instance ready, within a second', async (t) => {
  const url = await migratedDatabase(t);
  const other = await connectTo(t, url);
  const { store, answer, lines } = await instanceOn(t, url, { connections: 1 });
  const whole = { partnerId: 'none', after: '', limit: 1 };
  await other.query('begin; lock table balances');
  const listing = store.listBalances({
    ...whole,
    customerId: 'none',
    type: 'CHECKING',
    grantId: undefined,
    at: new Date().toISOString(),
  });
  await assert.rejects(store.listBrands({ ...whole, referenceId: undefined }), /connections .* are in use/);
  const startedMs = performance.now();
  assert.equal(await answer(), slow);
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs >= postgresBounds.probeMs - 5 && tookMs < 1_000, `${tookMs} ms`);
  await other.query('rollback');
  await listing;
  await until(20_000, async () => (await answer()) === 'ready\n');
  const said = lines().map(({ msg, fault }) => [msg, fault]);
  const fault = slow.split('\n')[1];
  assert.deepEqual(said, [
    ['a part of the database does not work', fault],
    ['a part of the database works again', fault],
  ]);
});

test('health probes that come within a second share one check', async (t) => {
  const url = await migratedDatabase(t);
  const proxy = await startNetwork(t, { port: Number(new URL(url).port) });
  const { answer } = await instanceOn(t, changed(url, { port: String(proxy.port) }));
  await Promise.all(Array.from({ length: 20 }, answer));
  assert.equal(await answer(), 'ready\n');
  const sent = Buffer.concat(proxy.sent()).toString('latin1');
  assert.equal(sent.split(balancesUnderAnyGrant.text).length - 1, 1);
});

const balanceLine = `${JSON.stringify({
  customer_id: 'tried',
  id: 'B1',
  type: 'CHECKING',
  currency: 'USD',
  amount: 1,
  updated_at: '2026-02-01T00:00:00Z',
})}\n`;

/** Breaks what every change runs, and says how to repair it. */
const broken = {
  postgres: {
    fault: `create or replace function audit_log_signs() returns trigger language plpgsql
      as $$ begin raise exception 'out of order'; end $$`,
    repair: `create or replace function audit_log_signs() returns trigger language plpgsql
      as $$ begin new.at := clock_timestamp(); new.db_user := session_user; return new; end $$`,
  },
  sqlite: {
    fault: `create trigger broken before insert on audit_log begin select raise(abort, 'out of order'); end`,
    repair: 'drop trigger broken',
  },
};

// At the same time, because each takes 15 seconds.
describe('changes that cannot be written', { concurrency: true }, () => {
  for (const engine of ['sqlite', 'postgres'] as const) {
    const { fault, repair } = broken[engine];
    test(`admin is ready only while a change can be written, serve without it (${engine})`, async (t) => {
      const { url: own, store, execute } = await openTestDatabase(t, 'fixture', fillFixture, engine);
      const url = engine === 'postgres' ? await urlInRole(t, own, 'network_admin') : own;
      await createAdminKeys(store);
      await execute(fault);
      const { operations, send } = await startAdmin(t, url, ['--log-level', 'silent']);
      const statusOf = async () => (await fetch(`${operations}/readyz`)).status;
      const metrics = async () => (await fetch(`${operations}/metrics`)).text();
      assert.equal((await send('balances', balanceLine)).status, 500);
      assert.equal(await statusOf(), 503);
      assert.match(await metrics(), /^partner_network_write_probe 0$/m);
      assert.match(await metrics(), /^partner_network_ready 0$/m);
      assert.equal(await (await instanceOn(t, own)).answer(), 'ready\n');
      const { writes } = await findingsOf(['--database', url, '--environment', 'sandbox']);
      assertFinding(writes!, 'failed', /^Changes cannot be written\. .*out of order/, /triggers of/);

      await execute(repair);
      // It tries every 15 seconds.
      await until(45_000, async () => (await statusOf()) === 200);
      assert.match(await metrics(), /^partner_network_write_probe 1$/m);
      assert.match(await metrics(), /^partner_network_ready 1$/m);
      assert.equal((await send('balances', balanceLine)).status, 200);
      assert.deepEqual(await store.auditOf('write probe', ['audit_log']), []);
      assert.equal((await findingsOf(['--database', url, '--environment', 'sandbox'])).writes!.status, 'ok');
    });
  }
});

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`a lock leaves admin ready, and doctor skips the check (${engine})`, async (t) => {
    const { url, execute } = await openTestDatabase(t, 'fixture', fillFixture, engine);
    const lock = { sqlite: 'begin immediate', postgres: 'begin; lock table audit_log' }[engine];
    await execute(lock);
    const { writes } = await findingsOf(['--database', url, '--environment', 'sandbox']);
    assertFinding(writes!, 'skipped', /^Not checked, because another command is writing\.$/);
    const { operations } = await startAdmin(t, url);
    assert.equal((await fetch(`${operations}/readyz`)).status, 200);
    const metrics = await (await fetch(`${operations}/metrics`)).text();
    assert.match(metrics, /^partner_network_write_probe 1$/m);
    await execute('rollback');
  });
}
