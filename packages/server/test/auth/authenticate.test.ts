/**
 * Who asks, told from what was sent and what is on file, without a service around it.
 * `npm run mutate` runs it for every change that it makes there, which a test with a service is too slow for.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiKeyOf, digestOfKey } from '../../src/auth/api-key.ts';
import { identify, requireValid } from '../../src/auth/authenticate.ts';
import { createKnownKeys } from '../../src/auth/key-cache.ts';
import type { KeyOnFile } from '../../src/store/port.ts';

const text = apiKeyOf('sandbox', 'a'.repeat(43));
const onFile: KeyOnFile = {
  ...{ id: 'KEY_1', partnerId: 'acme', scopes: [], expiresAt: undefined },
  ...{ isRevoked: false, isPartnerDisabled: false },
};

/** A store with one key, which counts how often it is asked. */
function storeOfOne(key = onFile) {
  const store = {
    asked: 0,
    findKey: async (digest: Uint8Array) => {
      store.asked += 1;
      return Buffer.compare(digest, digestOfKey(text)) === 0 ? key : undefined;
    },
  };
  return store;
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

const isTaken = [
  ['Authorization', `Bearer ${text}`],
  ['authorization', `bearer ${text}`],
  ['AUTHORIZATION', `BEARER   ${text}`],
  ['Host', 'a', 'Authorization', `Bearer ${text}`, 'X-Authorization', 'Bearer x'],
];

test('finds the key of the one bearer that was sent, whatever the case of its scheme', async () => {
  for (const headers of isTaken)
    assert.equal(await identify(headers, storeOfOne(), createKnownKeys(), 'sandbox'), onFile);
});

const isRefused = [
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
];

test('refuses all else alike, and does not ask the store for it', async () => {
  for (const headers of isRefused) {
    const store = storeOfOne();
    assert.deepEqual(
      await refusalOf(() => identify(headers, store, createKnownKeys(), 'sandbox')),
      unauthorized,
    );
    assert.equal(store.asked, 0, headers.join(' '));
  }
});

test('refuses a key that is well formed and not on file as it refuses no key at all', async () => {
  const store = storeOfOne();
  const headers = ['Authorization', `Bearer ${apiKeyOf('sandbox', 'b'.repeat(43))}`];
  assert.deepEqual(
    await refusalOf(() => identify(headers, store, createKnownKeys(), 'sandbox')),
    unauthorized,
  );
  assert.equal(store.asked, 1);
});

test('tells the environment of a key from its beginning, and names the one that is needed', async () => {
  const store = storeOfOne();
  const mistaken = [
    ['production', text, 'This is the production environment; use a key that begins with pn_live_.'],
    [
      'sandbox',
      apiKeyOf('production', 'a'.repeat(43)),
      'This is the sandbox environment; use a key that begins with pn_test_.',
    ],
  ] as const;
  for (const [environment, key, detail] of mistaken) {
    await assert.rejects(
      identify(['Authorization', `Bearer ${key}`], store, createKnownKeys(), environment),
      {
        status: 401,
        errors: [{ category: 'API_KEY_ERROR', code: 'API_KEY_ENVIRONMENT_MISMATCH', detail }],
      },
    );
  }
  assert.equal(store.asked, 0);
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
