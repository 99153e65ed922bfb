/** Counts the round trips to Postgres of each read, as a proxy sees them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOfKey } from '../../../service/src/auth.ts';
import { future, keys } from '../../../testkit/fixtures/fixture.ts';
import { until } from '../../../testkit/fixtures/until.ts';
import { startPostgres, startStandby, withoutOwnServers } from '../../../testkit/servers/postgres.ts';
import { startProxy } from '../../../testkit/servers/proxy.ts';
import { fixtureDatabase, openServing } from '../../../testkit/service/database.ts';
import type { Store } from '../../src/port.ts';
import { areAllUsed, database, fillOn, pagesOfReplicas } from './replica-scene.ts';

const brands = { partnerId: 'acme', after: '', limit: 2, walPosition: 0n };
const alice = { customerId: 'alice', type: 'CHECKING', at: future };
const balances = { partnerId: 'acme', ...alice, after: '', limit: 2 };

const reads: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  'a key': (store) => store.findKey(digestOfKey(keys.acme)),
  'a page of brands': (store) => store.listBrands({ ...brands, referenceId: undefined }),
  'a page of brands by reference': (store) => store.listBrands({ ...brands, referenceId: 'shared' }),
  'a grant and its balances': (store) => store.listBalances({ ...balances, grantId: 'g-active' }),
  'any grant and its balances': (store) => store.listBalances({ ...balances, grantId: undefined }),
};

function withPort(url: string, port: number): string {
  const through = new URL(url);
  through.port = String(port);
  return through.href;
}

const rounds = 20;

/** The smallest count of many, because the service also checks its servers some times a second. */
async function roundTrips(requests: () => number, work: () => Promise<unknown>): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const before = requests();
    await work();
    smallest = Math.min(smallest, requests() - before);
  }
  return smallest;
}

for (const keepsSession of [true, false]) {
  const how = keepsSession ? 'with' : 'without';
  for (const [what, read] of Object.entries(reads)) {
    test(`${what} takes one round trip, ${how} prepared statements`, async (t) => {
      const url = await fixtureDatabase(t);
      const { port, requests } = await startProxy(t, Number(new URL(url).port));
      const store = await openServing(t, withPort(url, port), { connections: 1, keepsSession });
      await read(store);
      assert.equal(await roundTrips(requests, () => read(store)), 1);
    });
  }
}

test('a page from a replica takes two: how far it has replayed, and the page', {
  skip: withoutOwnServers(),
}, async (t) => {
  const primary = await startPostgres(t);
  await fillOn(primary);
  const standby = await startStandby(t, primary);
  const { port, requests } = await startProxy(t, standby.port);
  const replicas = [withPort(standby.url(database), port)];
  const store = await openServing(t, primary.url(database), { replicas });
  await until(20_000, () => areAllUsed(store));
  const read = reads['a page of brands']!;
  await read(store);
  assert.equal(await roundTrips(requests, () => read(store)), 2);
  assert.deepEqual(pagesOfReplicas(store), [1 + rounds]);
});
