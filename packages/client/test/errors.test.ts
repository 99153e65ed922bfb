import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryLimiter } from '../../service/src/limiter/rate-limit.ts';
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
import { connectTo, startNetwork } from './support/network.ts';
import { offline } from './support/offline.ts';
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
