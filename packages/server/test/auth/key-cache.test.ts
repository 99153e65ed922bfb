/** Which keys are remembered, and for how long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiKeyOf } from '../../src/auth/api-key.ts';
import { identify } from '../../src/auth/authenticate.ts';
import { createKnownKeys } from '../../src/auth/key-cache.ts';
import { authBounds } from '../../src/bounds/auth.ts';
import type { KeyOnFile } from '../../src/store/port.ts';

const good: KeyOnFile = {
  ...{ id: 'KEY_1', partnerId: 'acme', scopes: [], expiresAt: undefined },
  ...{ isRevoked: false, isPartnerDisabled: false },
};

/** Asks as callers do, of a store and on a clock that do as they are told. */
function scene() {
  const now = { ms: 10_000 };
  const known = createKnownKeys(() => now.ms);
  const store = {
    asked: 0,
    key: good as KeyOnFile | undefined | Promise<KeyOnFile>,
    findKey: async () => {
      store.asked += 1;
      return store.key;
    },
  };
  const ask = (letter = 'a') => {
    const text = apiKeyOf('sandbox', letter.repeat(43));
    return identify(['Authorization', `Bearer ${text}`], store, known, 'sandbox');
  };
  return { now, store, ask };
}

test('a good key is looked up once in half a second, however often it is sent', async () => {
  const { now, store, ask } = scene();
  assert.equal(await ask(), good);
  now.ms += authBounds.keyKnownMs - 1;
  store.key = { ...good, isRevoked: true };
  assert.equal(await ask(), good);
  assert.equal(store.asked, 1);
  now.ms += 1;
  assert.equal((await ask()).isRevoked, true);
  assert.equal(store.asked, 2);
});

test('an answer that comes after its half second is not remembered, though it counts', async () => {
  const { now, store, ask } = scene();
  const slow = Promise.withResolvers<KeyOnFile>();
  store.key = slow.promise;
  const first = ask();
  now.ms += authBounds.keyKnownMs;
  store.key = undefined;
  await assert.rejects(ask('b'), { status: 401 });
  slow.resolve(good);
  assert.equal(await first, good);
  store.key = { ...good, isRevoked: true };
  assert.equal((await ask()).isRevoked, true);
});

test('what is remembered of one key is not told to another', async () => {
  const { store, ask } = scene();
  await ask('a');
  store.key = undefined;
  await assert.rejects(ask('b'), { status: 401 });
  assert.equal(store.asked, 2);
});

for (const [which, key] of Object.entries({
  'not on file': undefined,
  revoked: { ...good, isRevoked: true },
  'of a disabled partner': { ...good, isPartnerDisabled: true },
})) {
  test(`a key that is ${which} is looked up every time, and as soon as it is good it counts`, async () => {
    const { store, ask } = scene();
    store.key = key;
    for (let time = 1; time <= 2; time += 1) {
      await ask().catch(() => {});
      assert.equal(store.asked, time);
    }
    store.key = good;
    assert.equal(await ask(), good);
  });
}

test('a fault of the store is not remembered', async () => {
  const { store, ask } = scene();
  store.key = Promise.reject(new Error('gone'));
  await assert.rejects(ask(), { message: 'gone' });
  store.key = good;
  assert.equal(await ask(), good);
});

test('so many are remembered, and no more', async () => {
  const known = createKnownKeys(() => 0);
  known.get('0');
  const look = async () => good;
  for (let number = 0; number < authBounds.keysKnown - 1; number += 1) await known.ask(String(number), look);
  assert.equal(known.get('0'), good);
  await known.ask('one more', look);
  assert.equal(known.get('0'), undefined);
});
