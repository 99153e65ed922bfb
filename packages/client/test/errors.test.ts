import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLimiter } from '../../service/src/limiter/memory.ts';
import { keys } from '../../testkit/fixtures/fixture.ts';
import {
  ApiError,
  ApiKeyError,
  AuthenticationError,
  ConnectionError,
  GrantError,
  InvalidRequestError,
  type ListBalancesParams,
  type PartnerNetwork,
  PartnerNetworkError,
  RateLimitError,
  ServerError,
} from '../src/index.ts';
import { connectTo, startFaultyNetwork, startNetwork } from './support/network.ts';
import { answering, offline } from './support/offline.ts';
import { rejectionOf } from './support/rejection.ts';

const ofAlice = { customer_id: 'alice', type: 'CHECKING' } as const;
const brands = (network: PartnerNetwork) => network.brands.list();
const balances = (params: ListBalancesParams) => (network: PartnerNetwork) => network.balances.list(params);

type Call = (network: PartnerNetwork) => PromiseLike<unknown>;

/** Refusals of the service, and the class of error that each becomes. */
const refusals: readonly [kind: typeof ApiError, status: number, code: string, key: string, call: Call][] = [
  [InvalidRequestError, 400, 'VALUE_TOO_HIGH', keys.acme, (network) => network.brands.list({ limit: 101 })],
  [InvalidRequestError, 400, 'INVALID_CURSOR', keys.acme, (network) => network.brands.list({ cursor: 'x' })],
  [AuthenticationError, 401, 'UNAUTHORIZED', keys.neverIssued, brands],
  [AuthenticationError, 403, 'PARTNER_DISABLED', keys.closed, brands],
  [AuthenticationError, 403, 'INSUFFICIENT_SCOPES', keys.acmeBalancesOnly, brands],
  [ApiKeyError, 401, 'API_KEY_EXPIRED', keys.acmeExpired, brands],
  [ApiKeyError, 401, 'API_KEY_REVOKED', keys.acmeRevoked, brands],
  [ApiKeyError, 401, 'API_KEY_ENVIRONMENT_MISMATCH', keys.live, brands],
  [GrantError, 403, 'GRANT_REVOKED', keys.acme, balances({ ...ofAlice, grant_id: 'g-revoked' })],
  [GrantError, 403, 'GRANT_NOT_FOUND', keys.acme, balances({ ...ofAlice, customer_id: 'zoe' })],
];

test('each refusal of the service is an error of its class, and is not retried', async (t) => {
  const { connect } = await startNetwork(t);
  for (const [kind, status, code, apiKey, call] of refusals) {
    const attempts: number[] = [];
    const error = await rejectionOf(
      call(connect({ apiKey, onRequest: ({ attempt }) => void attempts.push(attempt) })),
    );
    assert.ok(error instanceof ApiError && error instanceof PartnerNetworkError);
    assert.equal(error.constructor, kind);
    assert.deepEqual([error.name, error.status, error.code], [kind.name, status, code]);
    assert.deepEqual(attempts, [1]);
  }
});

test('an error has the values of the first record, and all records', async (t) => {
  const { connect } = await startNetwork(t);
  const error = await rejectionOf(connect().brands.list({ limit: 0, reference_id: '' }), InvalidRequestError);
  assert.deepEqual(
    error.errors.map(({ code, field }) => [code, field]),
    [
      ['VALUE_TOO_LOW', 'limit'],
      ['VALUE_EMPTY', 'reference_id'],
    ],
  );
  const { category, field, detail, requestId, message } = error;
  assert.deepEqual([category, field, detail], ['INVALID_REQUEST_ERROR', 'limit', 'Set limit to at least 1.']);
  assert.match(requestId ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(message, `400 VALUE_TOO_LOW: Set limit to at least 1. (request ${requestId})`);
  assert.match(error.stack ?? '', /^InvalidRequestError: 400 VALUE_TOO_LOW/);
});

test('an error over the rate limit says when to retry', async (t) => {
  const { connect } = await startNetwork(t, { limiters: { brands: createMemoryLimiter(1, () => 0) } });
  const network = connect({ maxRate: 0, maxRetries: 0 });
  await network.brands.list();
  const error = await rejectionOf(network.brands.list(), RateLimitError);
  assert.equal(error.retryAfterMs, 1_000);
});

test('a fault of the service is a ServerError; a base address without its path is NOT_FOUND', async (t) => {
  const { connect, service, baseUrl } = await startNetwork(t);
  const { origin } = new URL(baseUrl);
  const notFound = await rejectionOf(connect({ baseUrl: origin }).brands.list(), InvalidRequestError);
  assert.deepEqual([notFound.status, notFound.code], [404, 'NOT_FOUND']);
  await service.database.execute('drop table brands');
  const error = await rejectionOf(connect({ maxRetries: 0 }).brands.list(), ServerError);
  assert.deepEqual([error.status, error.code], [500, 'INTERNAL_SERVER_ERROR']);
});

const foreign: readonly [promise: string, status: number, body: string, kind: typeof ApiError][] = [
  ["a proxy's HTML 502", 502, '<html></html>', ServerError],
  ['an empty 500', 500, '', ServerError],
  ['a 503 with a category of another status', 503, records('GRANT_ERROR', 'ODD'), ServerError],
  ['a 400 of a category that does not exist yet', 400, records('NEW_ERROR', 'NEW_CODE'), InvalidRequestError],
  ['an empty 401', 401, '', AuthenticationError],
  ['a 429 that is not JSON', 429, 'slow down', RateLimitError],
  ['a 418 with a category that is a name in Object.prototype', 418, records('constructor', 'X'), ApiError],
  ['a 403 of a firewall', 403, '<html></html>', ApiError],
  ['a 409 with a new code of a known category', 409, records('GRANT_ERROR', 'NEW_CODE'), GrantError],
  ['errors that are not a list', 422, '{"errors":{}}', ApiError],
  ['errors that are not records', 422, '{"errors":[null,1,{}]}', ApiError],
];

function records(category: string, code: string): string {
  return JSON.stringify({ errors: [{ category, code }] });
}

for (const [promise, status, body, kind] of foreign) {
  test(`${promise} is ${kind.name}`, async () => {
    const { network } = answering({ status, body });
    const error = await rejectionOf(network.brands.list({}, { maxRetries: 0 }), ApiError);
    assert.equal(error.constructor, kind);
    const { code, message } = error;
    assert.deepEqual([error.status, code], [status, /"code":"(\w+)"/.exec(body)?.[1]]);
    assert.ok(message.startsWith(code === undefined ? `${status}: ` : `${status} ${code}.`), message);
    assert.doesNotMatch(message, /undefined|<html>/);
  });
}

test('ignores fields of an error record that are not strings, and records without a code', async () => {
  const good = { category: 'GRANT_ERROR', code: 'GRANT_REVOKED' };
  const errors = [
    null,
    { ...good, detail: { text: 'x' }, field: ['grant_id'], more: 'x' },
    { category: {}, code: 'OTHER', detail: 'Said.', field: null },
    { category: 'GRANT_ERROR', code: 7 },
  ];
  const { network } = answering({ status: 403, body: JSON.stringify({ errors }) });
  const error = await rejectionOf(network.brands.list(), GrantError);
  assert.equal(error.message, '403 GRANT_REVOKED.');
  assert.deepEqual([error.detail, error.field], [undefined, undefined]);
  assert.deepEqual(error.errors, [good, { code: 'OTHER', detail: 'Said.' }]);
});

test('a 200 that is not a page is an error, and is not retried', async () => {
  for (const body of [
    ...['{"brand":[]}', '[]', 'null', '{"brands":[],"cursor":7}', '{"brands":[{"id":"one"},null]}'],
  ]) {
    const { network, urls } = answering({ body });
    const error = await rejectionOf(network.brands.list(), ApiError);
    assert.match(error.message, /^200: the response is not a page of brands; check baseUrl\./);
    assert.equal(urls.length, 1);
  }
});

test('a body that never ends is cut off', async () => {
  const blank = new Uint8Array(1_024 * 1_024).fill(0x20);
  const body = new ReadableStream({ pull: (controller) => controller.enqueue(blank) });
  const { network, urls } = answering({ body });
  const error = await rejectionOf(network.brands.list(), ApiError);
  assert.match(error.message, /^200: the response is too long to be a page/);
  assert.equal(urls.length, 1);
});

for (const [status, what, kind, attempts] of [
  [403, 'breaks off', ApiError, 1],
  [401, 'is late', AuthenticationError, 1],
  [429, 'is late', RateLimitError, 2],
] as const) {
  test(`a ${status} whose body ${what} is an error with its status`, async () => {
    const pull = () =>
      what === 'is late' ? new Promise<void>(() => {}) : Promise.reject(new Error('reset'));
    const headers = { 'retry-after-ms': '1' };
    const answer = () => ({ status, headers, body: new ReadableStream({ pull }) });
    const { network, urls } = answering(answer(), answer());
    const error = await rejectionOf(network.brands.list({}, { timeoutMs: 30, maxRetries: 1 }), kind);
    assert.deepEqual([error.status, error.retryAfterMs, urls.length], [status, 1, attempts]);
  });
}

test('a redirect is an error, and is not followed', async (t) => {
  const { network, proxy } = await startFaultyNetwork(t, ['redirect']);
  const error = await rejectionOf(network.brands.list(), ApiError);
  assert.match(error.message, /^301: the client does not follow redirects; check baseUrl\.$/);
  assert.equal(proxy.targets.length, 1);
});

test('the stack of an error contains the line of the call', async () => {
  const network = offline({ fetch: () => Promise.reject(new Error('no')), maxRetries: 0 });
  async function awaiting() {
    await network.brands.list();
  }
  async function iterating() {
    for await (const _ of network.brands.list()) assert.fail('nothing comes');
  }
  for (const call of [awaiting, iterating]) {
    const { stack } = (await rejectionOf(call())) as Error;
    assert.match(stack ?? '', new RegExp(`^ConnectionError: .*\n(    at .*\n)+    at ${call.name} `));
  }
});

test('an error does not depend on Error.prepareStackTrace of the program', async (t) => {
  const network = offline({ fetch: () => Promise.reject(new Error('no')), maxRetries: 0 });
  const { prepareStackTrace } = Error;
  t.after(() => Object.assign(Error, { prepareStackTrace }));
  Error.prepareStackTrace = (_, frames) => frames;
  assert.ok((await rejectionOf(network.brands.list())) instanceof ConnectionError);
});

test('an unreachable service is a ConnectionError with the reason', async (t) => {
  const { baseUrl, service } = await startNetwork(t);
  await service.close();
  const error = await rejectionOf(connectTo(baseUrl, { maxRetries: 0 }).brands.list());
  assert.ok(error instanceof ConnectionError && !(error instanceof ApiError));
  assert.equal(
    error.message,
    `${baseUrl} did not answer: ECONNREFUSED. Check baseUrl, and that the service runs.`,
  );
  assert.equal((error.cause as { code: string }).code, 'ECONNREFUSED');
});

test('the error for an answer that is not JSON repeats nothing of it', async () => {
  const { network } = answering({ body: '{"balances":[{"amount":4242x' });
  const error = await rejectionOf(network.balances.list(ofAlice, { maxRetries: 0 }), ConnectionError);
  assert.match(error.message, /answered with status 200, but the body is not complete JSON\.$/);
  assert.doesNotMatch(`${error.stack}${error.cause}`, /4242/);
});
