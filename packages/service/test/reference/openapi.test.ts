import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApi } from '@partner-network/contract/openapi/document';
import { partnersApi } from '@partner-network/contract/openapi/partners';
import { openApiPath } from '@partner-network/contract/operations';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { exchangeOf } from '../../../testkit/fixtures/http.ts';
import { publicUrl, startTestService } from '../../../testkit/service/service.ts';
import { createMemoryLimiter } from '../../src/limiter/rate-limit.ts';
import { referenceRoutes } from '../../src/reference/routes.ts';

const rates = { brands: 50, balances: 7 };
const limiters = {
  brands: createMemoryLimiter(rates.brands, Date.now),
  balances: createMemoryLimiter(rates.balances, Date.now),
};

test('the OpenAPI document needs no key, and has the address and the rates of this service', async (t) => {
  const { call } = await startTestService(t, { limiters });
  const { status, headers, text } = await call(`${openApiPath}?anything=goes`);
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(headers['cache-control'], 'public, max-age=300');
  assert.equal(headers.ratelimit, undefined);
  assert.equal(headers['content-length'], String(Buffer.byteLength(text)));
  const expected = openApi(partnersApi({ environment: 'sandbox', publicUrl }, rates));
  assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(expected)));
  assert.equal((await call(openApiPath, { key: keys.acmeRevoked })).text, text, 'a key changes nothing');
});

test('a failure to build it is not cached: the next request gets it', async () => {
  const known: string[] = [];
  const publicUrlOf = () => known[0] ?? assert.fail('not known yet');
  const routes = referenceRoutes({ environment: 'sandbox', publicUrl: publicUrlOf }, rates);
  const route = new Map(routes).get(openApiPath)!;
  await assert.rejects(route.answer(exchangeOf()), /not known yet/);
  known.push(publicUrl);
  assert.match(String(await route.answer(exchangeOf())), /^\{"openapi"/);
});
