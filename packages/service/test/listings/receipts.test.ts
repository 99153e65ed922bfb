import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../../checks/fuzz/words.ts';
import { Overload } from '../../../http/src/overload.ts';
import { type Receipt, StoreUnavailable } from '../../../store/src/port.ts';
import { balances, keys } from '../../../testkit/fixtures/fixture.ts';
import { answersIn, assertUnavailable, errorsOf } from '../../../testkit/fixtures/http.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { createMemoryLimiter } from '../../src/limiter/rate-limit.ts';
import type { Journal } from '../../src/receipts.ts';
import type { ScenarioName } from '../../src/rehearsals/scenarios.ts';
import { get, urlOf } from '../rehearsals/client.ts';
import { type Choices, startWithJournal } from './journal-scene.ts';

const alice = '?customer_id=alice&type=CHECKING';

/** A request's key and query, and in its receipt: partner, key, customer, grant and outcome. */
const asked: readonly (readonly [key: string, query: string, ...written: (string | undefined)[]])[] = [
  [keys.acme, alice, 'acme', 'KEY_0', 'alice', 'g-active', 'GRANTED'],
  [keys.acme, `${alice}&grant_id=g-active&limit=1`, 'acme', 'KEY_0', 'alice', 'g-active', 'GRANTED'],
  [keys.zenith, alice, 'zenith', 'KEY_8', 'alice', 'g-zenith-alice', 'GRANTED'],
  ...[
    [`${alice}&grant_id=g-revoked`, 'alice', 'g-revoked', 'GRANT_REVOKED'],
    [`${alice}&grant_id=none`, 'alice', 'none', 'GRANT_NOT_FOUND'],
    ['?customer_id=z%C3%B6+%22e&type=CHECKING', 'zö "e', undefined, 'GRANT_NOT_FOUND'],
    [`${alice}&grant_id=${keys.acme}`, 'alice', '[key]', 'GRANT_NOT_FOUND'],
    [`?type=CHECKING&customer_id=${keys.zenith}`, '[key]', undefined, 'GRANT_NOT_FOUND'],
    [`${alice}&limit=0&x=1`, 'alice', undefined, 'VALUE_TOO_LOW'],
    [`${alice}&cursor=x`, 'alice', undefined, 'INVALID_CURSOR'],
    ['', undefined, undefined, 'MISSING_REQUIRED_PARAMETER'],
    [`${alice}&customer_id=zoe`, undefined, undefined, 'CONFLICTING_PARAMETERS'],
    [`?customer_id=${'x'.repeat(129)}&grant_id=g`, undefined, 'g', 'VALUE_TOO_LONG'],
    ['?customer_id=a%00&type=CHECKING', undefined, undefined, 'INVALID_CHARACTER'],
  ].map(([query, ...written]) => [keys.acme, query!, 'acme', 'KEY_0', ...written] as const),
  [keys.acmeBrandsOnly, alice, 'acme', 'KEY_1', 'alice', undefined, 'INSUFFICIENT_SCOPES'],
  [keys.acmeExpired, alice, 'acme', 'KEY_3', 'alice', undefined, 'API_KEY_EXPIRED'],
  [keys.acmeRevoked, `${alice}&grant_id=g`, 'acme', 'KEY_4', 'alice', 'g', 'API_KEY_REVOKED'],
  [keys.closed, alice, 'closed', 'KEY_7', 'alice', undefined, 'PARTNER_DISABLED'],
];

function wordsOf({ partner_id, key_id, customer_id, grant_id, outcome }: Receipt): unknown[] {
  return [partner_id, key_id, customer_id, grant_id, outcome];
}

test('every answer leaves a receipt: key, customer, grant, time and outcome', async (t) => {
  const { balances, receipts } = await startWithJournal(t);
  const expected = new Map<unknown, unknown[]>();
  const startedMs = Date.now();
  for (const method of ['GET', 'HEAD']) {
    for (const [key, query, ...written] of asked) {
      const answer = await balances(query, { key, method });
      expected.set(answer.headers['x-request-id'], written);
    }
  }
  const endedMs = Date.now();
  const found = await receipts();
  assert.equal(found.length, 2 * asked.length);
  for (const receipt of found) {
    assert.deepEqual(wordsOf(receipt), expected.get(receipt.request_id));
    const atMs = Date.parse(receipt.at);
    assert.ok(atMs >= startedMs && atMs <= endedMs);
  }
});

test('a receipt is written after its response was sent: of a page, a refusal and a rehearsal', async (t) => {
  let response: ServerResponse | undefined;
  const wereSent: (boolean | undefined)[] = [];
  const journal = { add: () => wereSent.push(response?.writableEnded), count: () => true, noteUse: () => {} };
  const choices = { journal: () => journal as unknown as Journal, rehearsals: {} };
  const { server, port, balances } = await startTestService(t, choices);
  server.prependListener('request', (_request, itsResponse) => {
    response = itsResponse;
  });
  await balances(alice, { key: keys.acme });
  await balances(`${alice}&limit=0`, { key: keys.acme });
  await (await get(`${urlOf(port, 'steady')}/network/v1/balances${alice}`)).text();
  assert.deepEqual(wereSent, [true, true, true]);
});

test('a receipt can be written whatever bytes a request contains', async (t) => {
  const { balances, receipts } = await startWithJournal(t);
  const escaped = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex').replace(/../g, '%$&');
  const words = [
    ...fc.sample(fc.uint8Array({ minLength: 1, maxLength: 6 }), 20).map(escaped),
    ...fc
      .sample(fc.string({ unit: anyCharacter, minLength: 1 }), 20)
      .map((text) => escaped(Buffer.from(text))),
  ];
  for (const word of words) {
    await balances(`?customer_id=${word}&grant_id=${word}&type=CHECKING`, { key: keys.acme });
  }
  assert.equal((await receipts()).length, words.length);
});

const failing = (fault: Error): Choices => ({
  reads: async ({ store }) => ({ ...store, listBalances: () => Promise.reject(fault) }),
});

for (const [code, choices] of [
  ['RATE_LIMITED', { limiters: { balances: createMemoryLimiter(1, () => 5_000) } }],
  ['SERVICE_UNAVAILABLE', failing(new StoreUnavailable('away'))],
  ['INTERNAL_SERVER_ERROR', failing(new Error('our fault'))],
] as const) {
  test(`a request that fails with ${code} leaves a receipt`, async (t) => {
    const { balances, receipts } = await startWithJournal(t, choices);
    await balances(alice, { key: keys.acme });
    const answer = await balances(alice, { key: keys.acme });
    assert.equal(errorsOf(answer)[0]?.code, code);
    const receipt = (await receipts()).find((each) => each.request_id === answer.headers['x-request-id']);
    assert.deepEqual(wordsOf(receipt!), ['acme', 'KEY_0', 'alice', undefined, code]);
  });
}

/** The outcomes of the requests for page 1, page 2 and, if page 2 came, page 3. */
const rehearsed: Record<ScenarioName, string[]> = {
  steady: ['GRANTED', 'GRANTED', 'GRANTED'],
  'rate-limited': ['GRANTED', 'RATE_LIMITED'],
  unavailable: ['GRANTED', 'SERVICE_UNAVAILABLE'],
  'server-error': ['GRANTED', 'INTERNAL_SERVER_ERROR'],
  'bad-gateway': ['GRANTED', 'REHEARSED_FAULT'],
  // Half of the page was sent.
  torn: ['GRANTED', 'GRANTED'],
  // Only the headers were sent.
  stalled: ['GRANTED', 'REHEARSED_FAULT'],
  'expired-cursor': ['GRANTED', 'GRANTED', 'INVALID_CURSOR'],
  'key-revoked': ['GRANTED', 'API_KEY_REVOKED'],
  'grant-revoked': ['GRANTED', 'GRANT_REVOKED'],
  'unknown-error': ['GRANTED', 'REHEARSED_UNKNOWN_CODE'],
  'new-fields': ['GRANTED', 'GRANTED', 'GRANTED'],
  'short-pages': ['GRANTED', 'GRANTED', 'GRANTED'],
  redirect: ['GRANTED', 'REHEARSED_FAULT'],
};

test('the receipts of a rehearsal say GRANTED only if balances were sent', async (t) => {
  const { port, receipts } = await startWithJournal(t, { rehearsals: {} });
  const ids = new Map<string, (string | null)[]>();
  for (const scenario of Object.keys(rehearsed)) {
    const ofScenario: (string | null)[] = [];
    ids.set(scenario, ofScenario);
    let query: string | undefined = `${alice}&limit=1`;
    while (query !== undefined) {
      const answered = await get(`${urlOf(port, scenario)}/network/v1/balances${query}`);
      ofScenario.push(answered.headers.get('x-request-id'));
      // A stalled response does not end.
      if (ofScenario.length === 2 && scenario === 'stalled') await answered.body?.cancel();
      const text = answered.bodyUsed ? '' : await answered.text().catch(() => '');
      const cursor: string | undefined = /"cursor":"([^"]+)"/.exec(text)?.[1];
      query = cursor && `${alice}&limit=1&cursor=${cursor}`;
    }
  }
  const found = new Map((await receipts()).map((receipt) => [receipt.request_id, receipt]));
  for (const [scenario, outcomes] of Object.entries(rehearsed)) {
    const written = ids.get(scenario)!.map((id) => found.get(id!)!);
    assert.deepEqual(pluck(written, 'outcome'), outcomes, scenario);
    // As for any refusal: the request did not name a grant.
    const grants = outcomes.map((outcome) => (outcome === 'GRANTED' ? 'g-active' : undefined));
    assert.deepEqual(pluck(written, 'grant_id'), grants, scenario);
  }
});

const target = `/network/v1/balances${alice}`;
const authorization = `Authorization: Bearer ${keys.acme}\r\n`;
const head = `Host: a\r\nConnection: close\r\n${authorization}`;

/** Requests with a valid key that are answered before the key is looked up. */
const answeredBefore: Readonly<Record<string, string>> = {
  '400 MALFORMED_REQUEST': `GET ${target} HTTP/1.1\r\nHost: a\r\n${head}\r\n`,
  '400 INVALID_CHARACTER': `GET ${target}&grant_id=\u00e9 HTTP/1.1\r\n${head}\r\n`,
  '401 UNAUTHORIZED': `GET ${target} HTTP/1.1\r\n${head}${authorization}\r\n`,
  '404 NOT_FOUND': `GET /network/v1/Balances${alice} HTTP/1.1\r\n${head}\r\n`,
  '405 METHOD_NOT_ALLOWED': `POST ${target} HTTP/1.1\r\n${head}\r\n`,
  '408 REQUEST_TIMEOUT': `GET ${target} HTTP/1.1\r\n${head}`,
  '431 REQUEST_TOO_LARGE': `GET ${target} HTTP/1.1\r\n${head}X: ${'x'.repeat(16_384)}\r\n\r\n`,
};

test('a request without a stored key, or answered before its key is read, leaves no receipt', async (t) => {
  const { balances, brands, call, raw, server, receipts } = await startWithJournal(t);
  for (const key of [undefined, 'nonsense', keys.neverIssued, keys.live]) await balances(alice, { key });
  await balances(alice, { key: keys.acme, method: 'OPTIONS' });
  await brands('', { key: keys.acme });
  await call('/network/v1/balances/', { key: keys.acme });
  // The real timeout is 5 s.
  server.headersTimeout = 50;
  for (const [answer, bytes] of Object.entries(answeredBefore)) {
    assert.deepEqual(answersIn(await raw(Buffer.from(bytes, 'latin1'))), [answer]);
  }
  assert.deepEqual(await receipts(), []);
});

for (const [what, choices] of Object.entries<Choices>({
  'is shed': { overload: new Overload(0, watchedLog().log) },
  'fails because its key cannot be read': {
    reads: async ({ store }) => ({ ...store, findKey: () => Promise.reject(new StoreUnavailable('away')) }),
  },
})) {
  test(`a request that ${what} leaves no receipt`, async (t) => {
    const { balances, receipts } = await startWithJournal(t, choices);
    assertUnavailable(await balances(alice, { key: keys.acme }));
    assert.deepEqual(await receipts(), []);
  });
}

test('a receipt holds no amount, no key and no cursor', async (t) => {
  const { balances: list, receipts } = await startWithJournal(t);
  const { cursor } = JSON.parse((await list(`${alice}&limit=1`, { key: keys.acme })).text);
  await list(`${alice}&limit=1&cursor=${cursor}`, { key: keys.acme });
  const found = await receipts();
  assert.equal(found.length, 2);
  const names = 'at request_id operation partner_id key_id outcome customer_id grant_id'.split(' ');
  for (const receipt of found) assert.deepEqual(Object.keys(receipt), names);
  const written = JSON.stringify(found);
  const secrets = [
    cursor,
    keys.acme,
    ...balances.map(({ amount }) => String(amount)).filter((text) => text !== '0'),
  ];
  for (const secret of secrets) assert.ok(!written.includes(secret));
});

test('the last use of a key is stored to the minute, for accepted keys only', async (t) => {
  const nowMs = Date.parse('2026-06-01T12:34:56.789Z');
  const service = await startWithJournal(t, { nowMs: () => nowMs });
  await service.balances(alice, { key: keys.acme });
  await service.brands('?limit=0', { key: keys.acmeBrandsOnly });
  await service.balances(alice, { key: keys.acmeRevoked });
  await service.balances(alice, { key: keys.acmeExpired });
  await service.brands('', { key: keys.closed });
  await service.receipts();
  const ids = Array.from({ length: 9 }, (_, index) => `KEY_${index}`);
  const minute = '2026-06-01T12:34:00.000Z';
  assert.deepEqual([...(await service.store.lastUses(ids))].toSorted(), [
    ['KEY_0', minute],
    ['KEY_1', minute],
  ]);
});
