/** The shipped client keeps every promise of every rehearsal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { PartnerNetwork } from '../../../client/src/index.ts';
import { scenarioList } from '../../../service/src/rehearsals/scenarios.ts';
import { openPrivateSandbox } from '../../src/rehearse/private-sandbox.ts';

/** A plain loop over a listing. Returns the ids that arrive before the last page or a final error. */
async function walk(listing: 'brands' | 'balances', variables: Readonly<Record<string, string>>) {
  const apiKey = variables.PARTNER_NETWORK_API_KEY!;
  const baseUrl = variables.PARTNER_NETWORK_BASE_URL!;
  // Many retries, because a busy machine refuses requests of its own accord.
  const network = new PartnerNetwork({ apiKey, baseUrl, timeoutMs: 8_000, maxRetries: 20 });
  const customer_id = variables.PARTNER_NETWORK_CUSTOMER_ID ?? '';
  const list =
    listing === 'brands' ? network.brands.list() : network.balances.list({ customer_id, type: 'CHECKING' });
  const ids: string[] = [];
  try {
    for await (const { id } of list) ids.push(id);
  } catch {
    // Some scenarios have a final error.
  }
  return ids;
}

/** Scenarios that end a walk after its first page. */
const final: readonly string[] = ['key-revoked', 'grant-revoked', 'unknown-error', 'redirect'];

for (const listing of ['brands', 'balances'] as const) {
  test(`the client keeps every promise in a plain loop over ${listing}`, async () => {
    await using opened = new AsyncDisposableStack();
    const chosen = scenarioList.filter(({ name }) => listing === 'balances' || name !== 'grant-revoked');
    const queue = (await openPrivateSandbox(chosen, listing, opened)).values();
    const work = async () => {
      for (const { name, variables, verdict } of queue) {
        const ids = await walk(listing, variables);
        assert.equal(new Set(ids).size, ids.length, 'each record once');
        assert.equal(ids.length, final.includes(name) ? 50 : 350, name);
        const { promises } = await verdict();
        assert.equal(promises.length, 7);
        assert.deepEqual(
          promises.filter((promise) => promise.verdict !== 'kept'),
          [],
          name,
        );
      }
    };
    // The number that the command runs at once: a busier sandbox refuses requests of its own accord.
    await Promise.all(Array.from({ length: commandLineBounds.rehearsedAtOnce }, work));
  });
}
