/**
 * With any key, another partner's grant gets the same response as an unknown grant, and so does a customer
 * without a grant for this partner: the same body, and the same headers except request id and date.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
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
import { startTestService, type TestService } from '../../../testkit/service/service.ts';

async function ask(service: TestService, key: string | undefined, customer: string, grant?: string) {
  const named = grant === undefined ? '' : `&grant_id=${grant}`;
  return seen(await service.balances(`?type=CHECKING&customer_id=${customer}${named}`, { key }));
}

test("every key reads what its partner's grants allow, and nothing else", async (t) => {
  const service = await startTestService(t, { data: tenants });
  for (const { what, text, partner, lists } of tenantKeys) {
    const unnamed = await ask(service, text, 'nobody');
    const named = await ask(service, text, 'nobody', 'grant-nobody');
    const mayList = lists.includes('balances');
    // A key without the scope is refused before its query is read, so one query is enough.
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
