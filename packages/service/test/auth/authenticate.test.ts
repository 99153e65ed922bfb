/**
 * How a key is read from the headers, found and cached, and what it and a grant allow. Without a service: the
 * check `mutate` needs quick tests.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Environment, environments } from '@partner-network/contract/environments';
import { authBounds } from '../../../common/src/bounds/service.ts';
import type { KeyOnFile } from '../../../store/src/port.ts';
import {
  adminKeyOf,
  apiKeyOf,
  createKeyCache,
  digestOfKey,
  identify,
  requireGrant,
  requireScope,
  requireValid,
} from '../../src/auth.ts';

const text = apiKeyOf('sandbox', 'a'.repeat(43));
const onFile: KeyOnFile = {
  ...{ id: 'KEY_1', partnerId: 'acme', scopes: ['BRANDS_READ'], expiresAt: undefined },
  ...{ isRevoked: false, isPartnerDisabled: false, limits: {} },
};

/** A store with one key. It counts its queries. */
function storeOfOne(key = onFile) {
  const store = {
    queries: 0,
    findKey: async (digest: Uint8Array) => {
      store.queries += 1;
      return Buffer.compare(digest, digestOfKey(text)) === 0 ? key : undefined;
    },
  };
  return store;
}

function identifyWith(
  headers: string[],
  store: ReturnType<typeof storeOfOne>,
  environment: Environment = 'sandbox',
) {
  return identify(headers, store, createKeyCache(), environment);
}

const unauthorized = { status: 401, errors: [{ category: 'AUTHENTICATION_ERROR', code: 'UNAUTHORIZED' }] };

async function refusalOf(work: () => Promise<unknown> | unknown) {
  try {
    return await work();
  } catch (thrown) {
    const { status, errors } = thrown as { status: number; errors: { category: string; code: string }[] };
    return { status, errors: errors.map(({ category, code }) => ({ category, code })) };
  }
}

const accepted = [
  ['Authorization', `Bearer ${text}`],
  ['authorization', `bearer ${text}`],
  ['AUTHORIZATION', `BEARER   ${text}`],
  ['Host', 'a', 'Authorization', `Bearer ${text}`, 'X-Authorization', 'Bearer x'],
];

test('finds the key of the one bearer token, whatever the case of the scheme', async () => {
  for (const headers of accepted) assert.equal(await identifyWith(headers, storeOfOne()), onFile);
});

const refused = [
  [],
  ['Authorization', ''],
  ['Authorization', 'Bearer'],
  ['Authorization', 'Bearer '],
  ['Authorization', text],
  ['Authorization', `Bearer${text}`],
  ['Authorization', `xBearer ${text}`],
  ['Authorization', `Basic ${text}`],
  ['Authorization', `Bearer\t${text}`],
  ['Authorization', `Bearer ${text} `],
  ['Authorization', `Bearer ${text} ${text}`],
  ['Authorization', `Bearer ${text},`],
  ['Authorization', `Bearer ${text.slice(0, -1)}`],
  ['Authorization', `Bearer ${text}`, 'authorization', `Bearer ${text}`],
  ['X-Authorization', `Bearer ${text}`],
  ...environments.map((kind) => ['Authorization', `Bearer ${adminKeyOf(kind, 'a'.repeat(43))}`]),
];

test('refuses every other header with the same error, without a query', async () => {
  for (const headers of refused) {
    const store = storeOfOne();
    assert.deepEqual(await refusalOf(() => identifyWith(headers, store)), unauthorized);
    assert.equal(store.queries, 0, headers.join(' '));
  }
});

test('refuses a well-formed key that is not stored with the same error', async () => {
  const store = storeOfOne();
  const headers = ['Authorization', `Bearer ${apiKeyOf('sandbox', 'b'.repeat(43))}`];
  assert.deepEqual(await refusalOf(() => identifyWith(headers, store)), unauthorized);
  assert.equal(store.queries, 1);
});

test('refuses a key of the other environment, and names the prefix of this one', async () => {
  const store = storeOfOne();
  const wrong = [
    ['production', text, 'Use a key that starts with pn_live_: this is the production environment.'],
    [
      'sandbox',
      apiKeyOf('production', 'a'.repeat(43)),
      'Use a key that starts with pn_test_: this is the sandbox environment.',
    ],
  ] as const;
  for (const [environment, key, detail] of wrong) {
    await assert.rejects(identifyWith(['Authorization', `Bearer ${key}`], store, environment), {
      status: 401,
      errors: [{ category: 'API_KEY_ERROR', code: 'API_KEY_ENVIRONMENT_MISMATCH', detail }],
    });
  }
  assert.equal(store.queries, 0);
});

test('revoked counts before expired, expired before disabled', async () => {
  const nowMs = Date.parse('2026-06-01T00:00:00.000Z');
  const past = '2026-05-31T23:59:59.999Z';
  const cases: [Partial<KeyOnFile>, string | undefined][] = [
    [{}, undefined],
    [{ isRevoked: true, expiresAt: past, isPartnerDisabled: true }, 'API_KEY_REVOKED'],
    [{ expiresAt: past, isPartnerDisabled: true }, 'API_KEY_EXPIRED'],
    [{ isPartnerDisabled: true }, 'PARTNER_DISABLED'],
    [{ expiresAt: '2026-06-01T00:00:00.001Z' }, undefined],
    [{ expiresAt: '2026-06-01T00:00:00.000Z' }, 'API_KEY_EXPIRED'],
  ];
  for (const [more, code] of cases) {
    const refused = await refusalOf(() => requireValid({ ...onFile, ...more }, nowMs));
    assert.equal((refused as typeof unauthorized | undefined)?.errors[0]?.code, code);
  }
});

test('a key without the scope is refused with the name of the scope', () => {
  requireScope(onFile, 'BRANDS_READ');
  assert.throws(() => requireScope(onFile, 'BALANCES_READ'), {
    status: 403,
    errors: [
      {
        category: 'AUTHENTICATION_ERROR',
        code: 'INSUFFICIENT_SCOPES',
        detail: 'Use a key with the scope BALANCES_READ.',
      },
    ],
  });
});

test('an active grant opens its page', () => {
  const page = { records: '', bytes: 0, next: undefined };
  const answer = { grant: 'ACTIVE', grantId: 'g', page } as const;
  assert.equal(requireGrant(answer, 'g'), answer);
  assert.equal(requireGrant(answer, undefined), answer);
});

test('any other grant is refused by its status, with the field only if the request has a grant_id', () => {
  for (const grant of ['NOT_FOUND', 'EXPIRED', 'REVOKED', 'CONSUMED'] as const) {
    const refusedWith = (grantId: string | undefined) => {
      try {
        return requireGrant({ grant }, grantId);
      } catch (thrown) {
        const { status, errors } = thrown as { status: number; errors: { code: string; field?: string }[] };
        return [status, ...errors.map(({ code, field }) => [code, field])];
      }
    };
    assert.deepEqual(refusedWith('g'), [403, [`GRANT_${grant}`, 'grant_id']]);
    assert.deepEqual(refusedWith(undefined), [403, [`GRANT_${grant}`, undefined]]);
  }
});

/** Sends keys as clients do, with a store and a clock that the test controls. */
function scene() {
  const now = { ms: 10_000 };
  const cache = createKeyCache(() => now.ms);
  const store = {
    queries: 0,
    key: onFile as KeyOnFile | undefined | Promise<KeyOnFile>,
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
  assert.equal(await send(), onFile);
  now.ms += authBounds.keyCacheMs - 1;
  store.key = { ...onFile, isRevoked: true };
  assert.equal(await send(), onFile);
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
  slow.resolve(onFile);
  assert.equal(await first, onFile);
  store.key = { ...onFile, isRevoked: true };
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
  revoked: { ...onFile, isRevoked: true },
  'of a disabled partner': { ...onFile, isPartnerDisabled: true },
})) {
  test(`a key that is ${which} is looked up every time, and works as soon as it is good`, async () => {
    const { store, send } = scene();
    store.key = key;
    for (let time = 1; time <= 2; time += 1) {
      await send().catch(() => {});
      assert.equal(store.queries, time);
    }
    store.key = onFile;
    assert.equal(await send(), onFile);
  });
}

test('a failed query is not cached', async () => {
  const { store, send } = scene();
  store.key = Promise.reject(new Error('gone'));
  await assert.rejects(send(), { message: 'gone' });
  store.key = onFile;
  assert.equal(await send(), onFile);
});

test('a full cache is cleared', async () => {
  const cache = createKeyCache(() => 0);
  cache.get('0');
  const find = async () => onFile;
  for (let key = 0; key < authBounds.keyCacheEntries - 1; key += 1) await cache.load(String(key), find);
  assert.equal(cache.get('0'), onFile);
  await cache.load('one more', find);
  assert.equal(cache.get('0'), undefined);
});
