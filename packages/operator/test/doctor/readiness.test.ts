/** What /readyz and doctor say of a Postgres database whose listings cannot run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postgresBounds } from '../../../common/src/bounds/postgres.ts';
import type { Finding } from '../../../common/src/finding.ts';
import { balancesUnderAnyGrant } from '../../../store/src/postgres/statements.ts';
import { migratedDatabase } from '../../../testkit/fixtures/database.ts';
import { until } from '../../../testkit/fixtures/until.ts';
import { connectTo } from '../../../testkit/servers/postgres.ts';
import { startProxy } from '../../../testkit/servers/proxy.ts';
import { assertFinding, changed, findingsOf, newRole } from './examined.ts';
import { instanceOn } from './instance.ts';

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
  assertFinding(
    await nodes(),
    'failed',
    /^The statements of the listings do not run\..* table grants/,
    /Fix/,
  );
  await owner.query(`grant select on grants to ${role}; alter table brands rename record to json`);
  await until(
    20_000,
    async () => (await answer()) === 503 && lines().at(-1)!.err.message.includes('"record"'),
  );
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
  const proxy = await startProxy(t, Number(new URL(url).port));
  const { answer } = await instanceOn(t, changed(url, { port: String(proxy.port) }));
  await Promise.all(Array.from({ length: 20 }, answer));
  assert.equal(await answer(), 'ready\n');
  const sent = Buffer.concat(proxy.sent()).toString('latin1');
  assert.equal(sent.split(balancesUnderAnyGrant.text).length - 1, 1);
});
