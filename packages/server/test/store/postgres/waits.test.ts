/** What operators can see of callers who wait for a connection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migratedDatabase, serveOptions } from '../../../../testkit/fixtures/database.ts';
import { connectTo } from '../../../../testkit/servers/postgres.ts';
import { digestOfKey } from '../../../src/auth/api-key.ts';
import { parseDatabaseUrl } from '../../../src/store/address.ts';
import { openStore } from '../../../src/store/engines.ts';
import { StoreUnavailable } from '../../../src/store/port.ts';

test('waits for a connection are timed, and those in vain are counted', async (t) => {
  const url = await migratedDatabase(t);
  const options = { ...serveOptions, connections: 1 };
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox', 'serve', options);
  t.after(store.close);
  const measured = (name: string, part?: string) =>
    store.metrics
      .find((metric) => metric.name === `partner_network_database_${name}`)!
      .read()
      .find((reading) => reading.part === part)!.value;
  const ask = () => store.findKey(digestOfKey('nobody'));

  await Promise.all([ask(), ask(), ask()]);
  assert.equal(measured('wait_seconds', 'count'), 2);
  assert.equal(measured('wait_timeouts_total'), 0);

  const locker = await connectTo(t, url);
  await locker.query('begin; lock table api_keys in access exclusive mode');
  const held = ask();
  await assert.rejects(ask(), StoreUnavailable);
  assert.equal(measured('wait_timeouts_total'), 1);
  assert.equal(measured('wait_seconds', 'count'), 3);
  assert.ok(measured('wait_seconds', 'sum') >= 0.24);
  await locker.query('rollback');
  await held;
});
