/** The examples of errors in the OpenAPI document are what the service says, word for word. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ErrorRecord } from '@partner-network/contract/errors';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { errorsOf } from '../../../testkit/fixtures/http.ts';
import { startTestService } from '../../../testkit/fixtures/service.ts';
import { demoBalances, demoBrands, demoPartners } from '../../src/demo/data.ts';

const document = JSON.parse(readFileSync(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8'));

/** What to send for each example that can be had by a query. */
const queries: Record<'brands' | 'balances', Record<string, string>> = {
  brands: {
    VALUE_EMPTY: 'cursor=',
    VALUE_TOO_LONG: `reference_id=${'x'.repeat(1025)}`,
    EXPECTED_INTEGER: 'limit=five',
    VALUE_TOO_LOW: 'limit=0',
    VALUE_TOO_HIGH: 'limit=101',
    CONFLICTING_PARAMETERS: 'limit=1&limit=2',
    UNKNOWN_QUERY_PARAMETER: 'referenceId=shop-17',
    INVALID_CHARACTER: 'reference_id=%00',
    INVALID_CURSOR: 'cursor=mine',
    'several-at-once': 'limit=101&referenceId=shop-17',
  },
  balances: {
    MISSING_REQUIRED_PARAMETER: 'type=CHECKING',
    VALUE_EMPTY: 'customer_id=alice&type=CHECKING&cursor=',
    VALUE_TOO_LONG: `customer_id=${'x'.repeat(129)}&type=CHECKING`,
    INVALID_ENUM_VALUE: 'customer_id=alice&type=checking',
    EXPECTED_INTEGER: 'customer_id=alice&type=CHECKING&limit=five',
    VALUE_TOO_LOW: 'customer_id=alice&type=CHECKING&limit=0',
    VALUE_TOO_HIGH: 'customer_id=alice&type=CHECKING&limit=101',
    CONFLICTING_PARAMETERS: 'customer_id=alice&type=CHECKING&limit=1&limit=2',
    UNKNOWN_QUERY_PARAMETER: 'customer_id=alice&type=CHECKING&customerId=alice',
    INVALID_CHARACTER: 'customer_id=%00&type=CHECKING',
    INVALID_CURSOR: 'customer_id=alice&type=CHECKING&cursor=mine',
    'several-at-once': 'type=CHECKING&limit=101&customerId=alice',
    GRANT_NOT_FOUND: 'customer_id=alice&type=CHECKING&grant_id=none',
  },
};

type Examples = Readonly<Record<string, { readonly value: { readonly errors: readonly ErrorRecord[] } }>>;

function examplesOf(listing: 'brands' | 'balances', status: number): Examples {
  const { $ref } = document.paths[`/${listing}`].get.responses[status];
  return document.components.responses[$ref.split('/').at(-1)].content['application/json'].examples;
}

for (const listing of ['brands', 'balances'] as const) {
  test(`each mistake that can be made in a query of ${listing} gets the answer that is shown`, async (t) => {
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

test('the records that are shown are those of the sandbox', () => {
  const demo = [...demoBrands(demoPartners[0], 1), ...demoBalances()] as { id: string }[];
  const ofSandbox = new Map(demo.map((record) => [record.id, record]));
  for (const listing of ['brands', 'balances'] as const) {
    const { examples } = document.paths[`/${listing}`].get.responses[200].content['application/json'];
    for (const record of examples['more-to-come'].value[listing]) {
      assert.partialDeepStrictEqual(record, ofSandbox.get(record.id));
    }
  }
});
