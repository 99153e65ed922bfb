/** The OpenAPI document, and that the service gives exactly the errors that it shows as examples. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ErrorRecord } from '@partner-network/contract/errors';
import { openApi } from '@partner-network/contract/openapi/document';
import { partnersApi } from '@partner-network/contract/openapi/partners';
import { openApiPath } from '@partner-network/contract/operations';
import { demoBalances, demoBrands, demoPartners } from '../../../operator/src/demo/data.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { errorsOf, exchangeOf } from '../../../testkit/fixtures/http.ts';
import { publicUrl, startTestService } from '../../../testkit/service/service.ts';
import { createMemoryLimiter } from '../../src/limiter/rate-limit.ts';
import { createPartnersSite } from '../../src/site/routes.ts';

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
  const { routes } = createPartnersSite({ environment: 'sandbox', publicUrl: publicUrlOf }, rates);
  const route = new Map(routes).get(openApiPath)!;
  await assert.rejects(route.answer(exchangeOf()), /not known yet/);
  known.push(publicUrl);
  assert.match(String(await route.answer(exchangeOf())), /^\{"openapi"/);
});

const document = JSON.parse(readFileSync(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8'));

const ofAlice = 'customer_id=alice&type=CHECKING&';

/** The queries that give each example which both listings show. */
const common: Record<string, string> = {
  VALUE_EMPTY: 'cursor=',
  EXPECTED_INTEGER: 'limit=five',
  VALUE_TOO_LOW: 'limit=0',
  VALUE_TOO_HIGH: 'limit=101',
  CONFLICTING_PARAMETERS: 'limit=1&limit=2',
  INVALID_CURSOR: 'cursor=mine',
};

const queries: Record<'brands' | 'balances', Record<string, string>> = {
  brands: {
    ...common,
    VALUE_TOO_LONG: `reference_id=${'x'.repeat(1025)}`,
    UNKNOWN_QUERY_PARAMETER: 'referenceId=shop-17',
    INVALID_CHARACTER: 'reference_id=%00',
    'several-at-once': 'limit=101&referenceId=shop-17',
  },
  balances: {
    ...Object.fromEntries(Object.entries(common).map(([name, query]) => [name, ofAlice + query])),
    MISSING_REQUIRED_PARAMETER: 'type=CHECKING',
    VALUE_TOO_LONG: `customer_id=${'x'.repeat(129)}&type=CHECKING`,
    INVALID_ENUM_VALUE: 'customer_id=alice&type=checking',
    UNKNOWN_QUERY_PARAMETER: `${ofAlice}customerId=alice`,
    INVALID_CHARACTER: 'customer_id=%00&type=CHECKING',
    'several-at-once': 'type=CHECKING&limit=101&customerId=alice',
    GRANT_NOT_FOUND: `${ofAlice}grant_id=none`,
  },
};

type Examples = Readonly<Record<string, { readonly value: { readonly errors: readonly ErrorRecord[] } }>>;

function examplesOf(listing: 'brands' | 'balances', status: number): Examples {
  const { $ref } = document.paths[`/${listing}`].get.responses[status];
  return document.components.responses[$ref.split('/').at(-1)].content['application/json'].examples;
}

for (const listing of ['brands', 'balances'] as const) {
  test(`each wrong query of ${listing} gets the error that the document shows`, async (t) => {
    const service = await startTestService(t);
    for (const [name, query] of Object.entries(queries[listing])) {
      const answer = await service[listing](`?${query}`, { key: keys.acme });
      assert.deepEqual(errorsOf(answer), examplesOf(listing, answer.status)[name]?.value.errors, name);
    }
    const otherScope = listing === 'brands' ? keys.acmeBalancesOnly : keys.acmeBrandsOnly;
    const refused = await service[listing]('', { key: otherScope });
    assert.deepEqual(errorsOf(refused), examplesOf(listing, 403).INSUFFICIENT_SCOPES?.value.errors);

    const unasked = Object.keys(examplesOf(listing, 400)).filter((name) => !(name in queries[listing]));
    assert.deepEqual(unasked, ['MALFORMED_REQUEST']);
  });
}

test('the records of the examples are records of the sandbox', () => {
  const demo = [...demoBrands(demoPartners[0], 1), ...demoBalances()] as { id: string }[];
  const ofSandbox = new Map(demo.map((record) => [record.id, record]));
  for (const listing of ['brands', 'balances'] as const) {
    const { examples } = document.paths[`/${listing}`].get.responses[200].content['application/json'];
    for (const record of examples['more-to-come'].value[listing]) {
      assert.partialDeepStrictEqual(record, ofSandbox.get(record.id));
    }
  }
});
