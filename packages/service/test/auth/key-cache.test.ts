/** Which keys are cached, and for how long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authBounds } from '../../../common/src/bounds/service.ts';
import type { KeyOnFile } from '../../../store/src/port.ts';
import { apiKeyOf } from '../../src/auth/api-key.ts';
import { createKeyCache, identify } from '../../src/auth/authenticate.ts';

const good: KeyOnFile = {
  ...{ id: 'KEY_1', partnerId: 'acme', scopes: [], expiresAt: undefined },
  ...{ isRevoked: false, isPartnerDisabled: false },
};

/** Sends keys as clients do, with a store and a clock that the test controls. */
function scene() {
  const now = { ms: 10_000 };
  const cache = createKeyCache(() => now.ms);
  const store = {
    queries: 0,
    key: good as KeyOnFile | undefined | Promise<KeyOnFile>,
    findKey: async () => {
      store.queries += 1;
      return store.key;
    },
  };
  const send = (letter = 'a') => {
    const text = apiKeyOf('sandbox', letter.repeat(43));
    return identify(['Authorization', `Bearer ${text}`], store, cache, 'sandbox');
  };
  return { now, store, send };
}

test('a good key is looked up once in half a second, however often it is sent', async () => {
  const { now, store, send } = scene();
  assert.equal(await send(), good);
  now.ms += authBounds.keyCacheMs - 1;
  store.key = { ...good, isRevoked: true };
  assert.equal(await send(), good);
  assert.equal(store.queries, 1);
  now.ms += 1;
  assert.equal((await send()).isRevoked, true);
  assert.equal(store.queries, 2);
});

test('a result that comes after its half second is used and not cached', async () => {
  const { now, store, send } = scene();
  const slow = Promise.withResolvers<KeyOnFile>();
  store.key = slow.promise;
  const first = send();
  now.ms += authBounds.keyCacheMs;
  store.key = undefined;
  await assert.rejects(send('b'), { status: 401 });
  slow.resolve(good);
  assert.equal(await first, good);
  store.key = { ...good, isRevoked: true };
  assert.equal((await send()).isRevoked, true);
});

test('a cached key is not used for another text', async () => {
  const { store, send } = scene();
  await send('a');
  store.key = undefined;
  await assert.rejects(send('b'), { status: 401 });
  assert.equal(store.queries, 2);
});

for (const [which, key] of Object.entries({
  'not stored': undefined,
  revoked: { ...good, isRevoked: true },
  'of a disabled partner': { ...good, isPartnerDisabled: true },
})) {
  test(`a key that is ${which} is looked up every time, and works as soon as it is good`, async () => {
    const { store, send } = scene();
    store.key = key;
    for (let time = 1; time <= 2; time += 1) {
      await send().catch(() => {});
      assert.equal(store.queries, time);
    }
    store.key = good;
    assert.equal(await send(), good);
  });
}

test('a failed query is not cached', async () => {
  const { store, send } = scene();
  store.key = Promise.reject(new Error('gone'));
  await assert.rejects(send(), { message: 'gone' });
  store.key = good;
  assert.equal(await send(), good);
});

test('a full cache is cleared', async () => {
  const cache = createKeyCache(() => 0);
  cache.get('0');
  const find = async () => good;
  for (let key = 0; key < authBounds.keyCacheEntries - 1; key += 1) await cache.load(String(key), find);
  assert.equal(cache.get('0'), good);
  await cache.load('one more', find);
  assert.equal(cache.get('0'), undefined);
});
