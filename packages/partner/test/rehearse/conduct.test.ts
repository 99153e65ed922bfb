/** The shipped client keeps every promise of every rehearsal. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import type { ListingName } from '@partner-network/contract/operations';
import { PartnerNetwork } from '../../../client/src/index.ts';
import { scenarioList } from '../../../service/src/rehearsals/scenarios.ts';
import { openPrivateSandbox } from '../../src/rehearse/private-sandbox.ts';

type Variables = Readonly<Record<string, string>>;

/** Runs a program in every scenario of a listing. Returns the promises that are not kept in each. */
async function unkeptBy(
  t: TestContext,
  listing: ListingName,
  program: (variables: Variables) => Promise<void>,
) {
  await using opened = new AsyncDisposableStack();
  const chosen = scenarioList.filter(({ name }) => listing === 'balances' || name !== 'grant-revoked');
  const rehearsals = await openPrivateSandbox(chosen, listing, opened);
  const startedMs = performance.now();
  const unkept: [string, string[]][] = [];
  const queue = rehearsals.values();
  const work = async () => {
    for (const { name, variables, verdict } of queue) {
      await program(variables);
      const { promises } = await verdict();
      assert.equal(promises.length, 7);
      const others = promises.filter((promise) => promise.verdict !== 'kept');
      unkept.push([name, others.map((promise) => promise.name)]);
    }
  };
  // The number that the command runs at once: a busier sandbox refuses requests of its own accord.
  await Promise.all(Array.from({ length: commandLineBounds.rehearsedAtOnce }, work));
  t.diagnostic(`${Math.round(performance.now() - startedMs)} ms`);
  return Object.fromEntries(unkept.filter(([, promises]) => promises.length > 0));
}

const listings: readonly ListingName[] = ['brands', 'balances'];

for (const listing of listings) {
  test(`the client keeps every promise in a plain loop over ${listing}`, async (t) => {
    const returned = new Map<string, number>();
    const unkept = await unkeptBy(t, listing, async (variables) => {
      const apiKey = variables.PARTNER_NETWORK_API_KEY!;
      const baseUrl = variables.PARTNER_NETWORK_BASE_URL!;
      // Many retries, because a busy machine refuses requests of its own accord.
      const network = new PartnerNetwork({ apiKey, baseUrl, timeoutMs: 8_000, maxRetries: 20 });
      const customer_id = variables.PARTNER_NETWORK_CUSTOMER_ID ?? '';
      const list =
        listing === 'brands'
          ? network.brands.list()
          : network.balances.list({ customer_id, type: 'CHECKING' });
      const ids: string[] = [];
      try {
        for await (const { id } of list) ids.push(id);
      } catch {
        // Some scenarios have a final error.
      }
      assert.equal(new Set(ids).size, ids.length, 'each record once');
      returned.set(new URL(baseUrl).pathname.split('/')[2]!, ids.length);
    });
    assert.deepEqual(unkept, {});
    const final: readonly string[] = ['key-revoked', 'grant-revoked', 'unknown-error', 'redirect'];
    for (const [name, records] of returned) assert.equal(records, final.includes(name) ? 50 : 350, name);
  });
}
