/**
 * The guarantee: whichever key a caller has, another partner's grant is answered as one that does not exist,
 * and a customer as one that does not, unless its own partner has a grant. Not a byte of the body differs,
 * nor a header besides request id and date.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestService, type TestService } from '../../../testkit/fixtures/service.ts';
import {
  balances,
  customers,
  grantIds,
  seen,
  standingOf,
  tenantKeys,
  tenants,
} from '../../../testkit/fixtures/tenants.ts';
import { keepsCursorsApart } from '../../../testkit/listing-rules/cursors-apart.ts';

async function ask(service: TestService, key: string | undefined, customer: string, grant?: string) {
  const named = grant === undefined ? '' : `&grant_id=${grant}`;
  return seen(await service.balances(`?type=CHECKING&customer_id=${customer}${named}`, { key }));
}

test("every key opens what its partner's grants open, and all else is as good as not there", async (t) => {
  const service = await startTestService(t, { data: tenants });
  for (const { what, text, partner, lists } of tenantKeys) {
    const unnamed = await ask(service, text, 'nobody');
    const named = await ask(service, text, 'nobody', 'grant-nobody');
    const mayList = lists.includes('balances');
    // A key that may not list is refused before its question is looked at: one of each will do.
    for (const grant of [undefined, ...(mayList ? ['grant-nobody', ...grantIds] : [`grant-${partner}`])]) {
      for (const customer of mayList ? [...customers, 'nobody'] : [`of-${partner}`]) {
        const answer = await ask(service, text, customer, grant);
        const standing = mayList ? standingOf(partner!, customer, grant) : 'NOT_FOUND';
        const asked = `${what}, ${customer}, ${grant}`;
        if (standing === 'NOT_FOUND') assert.deepEqual(answer, grant === undefined ? unnamed : named, asked);
        else if (standing === 'ACTIVE') assert.deepEqual(amountsIn(answer.text), amountsOf(customer), asked);
        else assert.equal(JSON.parse(answer.text).errors[0].code, `GRANT_${standing}`, asked);
      }
    }
  }
});

function amountsIn(text: string): number[] {
  return JSON.parse(text).balances.map(({ amount }: { amount: number }) => amount);
}

function amountsOf(customer: string): number[] {
  return balances.filter(({ customer_id }) => customer_id === customer).map(({ amount }) => amount);
}

keepsCursorsApart('balances');
