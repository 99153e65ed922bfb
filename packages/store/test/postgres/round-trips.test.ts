/** Counts the round trips to Postgres of each read, as a proxy sees them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOfKey } from '../../../service/src/auth.ts';
import { future, keys } from '../../../testkit/fixtures/fixture.ts';
import { startNetwork } from '../../../testkit/servers/network.ts';
import { fixtureDatabase, openServing } from '../../../testkit/service/database.ts';
import type { Store } from '../../src/port.ts';
import { roundTrips, withPort } from './replica-scene.ts';

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

for (const keepsSession of [true, false]) {
  const how = keepsSession ? 'with' : 'without';
  for (const [what, read] of Object.entries(reads)) {
    test(`${what} takes one round trip, ${how} prepared statements`, async (t) => {
      const url = await fixtureDatabase(t);
      const { port, requests } = await startNetwork(t, { port: Number(new URL(url).port) });
      const store = await openServing(t, withPort(url, port), { connections: 1, keepsSession });
      await read(store);
      assert.equal(await roundTrips(requests, () => read(store)), 1);
    });
  }
}
