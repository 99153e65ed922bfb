/** How a key is read from the headers and found, without a service: the check `mutate` needs quick tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Environment, environments } from '@partner-network/contract/environments';
import type { KeyOnFile } from '../../../store/src/port.ts';
import { adminKeyOf, apiKeyOf, digestOfKey } from '../../src/auth/api-key.ts';
import { createKeyCache, identify, requireValid } from '../../src/auth/authenticate.ts';

const text = apiKeyOf('sandbox', 'a'.repeat(43));
const onFile: KeyOnFile = {
  ...{ id: 'KEY_1', partnerId: 'acme', scopes: [], expiresAt: undefined },
  ...{ isRevoked: false, isPartnerDisabled: false },
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
