/**
 * Whatever reaches the socket gets an answer of the catalogue and nothing else: never a 5xx, never a body of
 * another shape, and never a byte of another partner's. `call` holds each answer to the contract.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCatalogue } from '@partner-network/contract/errors';
import { listBalances, listBrands } from '@partner-network/contract/operations';
import fc from 'fast-check';
import { keys } from '../support/fixture.ts';
import { type Answer, errorsOf, responsesIn } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const runs = { numRuns: 1_000 };
const refusedStatuses = new Set(
  Object.values(errorCatalogue)
    .map(({ status }) => status as number)
    .filter((status) => status < 500),
);

/** What only Zenith may see: names, amounts and ids of its brands, customers and grants. */
const zenithOnly = /Zenith|zenith|424242|"z1"|zoe/;

function assertFit({ status, text }: Answer): void {
  assert.ok(status === 200 || status === 204 || refusedStatuses.has(status), `status ${status}`);
  assert.doesNotMatch(text, zenithOnly);
  if (text !== '' && refusedStatuses.has(status)) {
    for (const error of errorsOf({ status, text, headers: {} })) {
      assert.equal(errorCatalogue[error.code].status, status);
    }
  }
}

/** Any text, made of bytes that a request line may hold: percent-encoded, or printable as it is. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc
    .string({ unit: 'grapheme-ascii', maxLength: 40 })
    .map((text) => text.replace(/[ \u0000-\u001f\u007f]/g, '%')),
  fc.stringMatching(/^(?:%[0-9a-fA-F]{0,2}|[a-z&=+;#?]){0,20}$/),
  fc.constantFrom('%00', '%ff', '%', '', '0', '-1', '1e2', '%F0%9F%A6%8A', "'%20or%201=1--", '__proto__'),
);

const parameterNames = [...Object.keys(listBrands.parameters), ...Object.keys(listBalances.parameters)];
const anyName = fc.oneof(fc.constantFrom(...parameterNames), anyText);
const fittingValue = fc.constantFrom(
  'alice',
  'zoe',
  'CHECKING',
  '7',
  'shared',
  'zenith-only',
  'g-active',
  'g-zenith',
);
const anyPair = fc.tuple(anyName, fc.oneof(fittingValue, anyText)).map(([name, value]) => `${name}=${value}`);
const anyQuery = fc.oneof(
  fc.array(anyPair, { maxLength: 8 }).map((pairs) => pairs.join('&')),
  anyText,
  fc.array(fittingValue, { minLength: 2, maxLength: 2 }).map(([customer, grant]) => {
    return `customer_id=${customer}&type=CHECKING&grant_id=${grant}`;
  }),
);
const listing = fc.constantFrom('brands' as const, 'balances' as const);
const keyOfAcme = fc.constantFrom(keys.acme, keys.acmeBrandsOnly, keys.acmeBalancesOnly);

test('any query string', async (t) => {
  const service = await startTestService(t);
  await fc.assert(
    fc.asyncProperty(listing, keyOfAcme, anyQuery, async (name, key, query) => {
      assertFit(await service[name](`?${query}`, { key }));
    }),
    runs,
  );
});

test('any cursor, alone and on top of a search', async (t) => {
  const service = await startTestService(t);
  const anyCursor = fc.oneof(
    fc.base64String({ maxLength: 1_100 }).map(encodeURIComponent),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
    anyText,
  );
  await fc.assert(
    fc.asyncProperty(listing, anyCursor, async (name, cursor) => {
      const search = name === 'brands' ? '' : 'customer_id=alice&type=CHECKING&';
      const answer = await service[name](`?${search}cursor=${cursor}`, { key: keys.acme });
      assertFit(answer);
      assert.equal(answer.status, 400, 'no invented cursor opens');
    }),
    runs,
  );
});

test('any credentials', async (t) => {
  const service = await startTestService(t);
  const headerText = fc.string({ unit: 'grapheme-ascii', maxLength: 80 });
  const cut = fc.nat(56).map((length) => keys.zenith.slice(0, length));
  const anyCredentials = fc
    .tuple(fc.constantFrom('Bearer ', 'bearer', 'Basic ', ''), fc.oneof(headerText, cut))
    .map((words) => words.join('').replace(/[^\t\x20-\x7e]/g, '~'));
  await fc.assert(
    fc.asyncProperty(listing, anyCredentials, async (name, Authorization) => {
      const answer = await service[name]('', { headers: { Authorization } });
      assertFit(answer);
      assert.equal(answer.status, 401);
    }),
    runs,
  );
});

test('any method, path and header', async (t) => {
  const { call } = await startTestService(t);
  const method = fc.constantFrom(
    'GET',
    'HEAD',
    'OPTIONS',
    'POST',
    'PUT',
    'DELETE',
    'PATCH',
    'TRACE',
    'LOCK',
    'M-SEARCH',
  );
  const path = fc.oneof(
    anyText.map((text) => `/${text}`),
    fc.constantFrom(
      '/network/v1/brands',
      '/network/v1/balances',
      '/network/v1/',
      '/assets/brand-placeholder.png',
    ),
    anyText.map((text) => `/network/v1/brands${text}`),
  );
  const headerName = fc
    .stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,20}$/)
    .filter((name) => !framingHeader.test(name));
  const headerValue = fc.string({ unit: 'grapheme-ascii', maxLength: 60 });
  const headers = fc.dictionary(headerName, headerValue, { maxKeys: 6 });
  await fc.assert(
    fc.asyncProperty(method, path, headers, async (verb, target, extra) => {
      assertFit(await call(target, { method: verb, key: keys.acme, headers: extra }));
    }),
    runs,
  );
});

/** Headers that our own client would act upon, or that make the request another one. */
const framing =
  'authorization|connection|content-length|date|expect|host|te|trailer|transfer-encoding|upgrade';
const framingHeader = new RegExp(`^(?:${framing})$`, 'i');

test('any bytes at all', async (t) => {
  const { rawAndEnd } = await startTestService(t);
  const start = fc.constantFrom(
    '',
    'GET ',
    'GET /network/v1/brands',
    'GET /network/v1/brands HTTP/1.1\r\nHost: a\r\n',
  );
  const line = fc.constantFrom(
    '\r\n',
    '\n',
    'Host: a\r\n',
    'X: ',
    'Transfer-Encoding: chunked\r\n',
    '\r\n\r\n',
    ' HTTP/1.1',
  );
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    line.map(Buffer.from),
  );
  const bytes = fc.tuple(start.map(Buffer.from), fc.array(noise, { maxLength: 8 }));
  await fc.assert(
    fc.asyncProperty(bytes, async ([head, rest]) => {
      const received = await rawAndEnd(Buffer.concat([head, ...rest]));
      for (const { status } of responsesIn(received)) {
        assert.ok(refusedStatuses.has(status), `status ${status}`);
      }
    }),
    runs,
  );
});
