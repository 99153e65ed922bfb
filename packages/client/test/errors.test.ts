import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, ConnectionError } from '../src/index.ts';
import { connectTo, startNetwork } from './support/network.ts';
import { offline } from './support/offline.ts';
import { rejectionOf } from './support/rejection.ts';

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
