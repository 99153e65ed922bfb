/** The shipped client keeps every promise; programs with common faults break those that they should. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ListingName } from '@partner-network/contract/operations';
import { PartnerNetwork } from '../../../client/src/index.ts';
import { rehearsalsBounds } from '../../../service/src/rehearsals/bounds.ts';
import { type ScenarioName, scenarioList } from '../../../service/src/rehearsals/scenarios.ts';
import { openPrivateSandbox } from '../../src/rehearse/private-sandbox.ts';
import { ignores429, restartsOnAnyFault, stopsEarlyAndFollows, type Target } from './naive-programs.ts';

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
  const unkept = await Promise.all(
    rehearsals.map(async ({ name, variables, verdict }): Promise<[string, string[]]> => {
      await program(variables);
      const { promises } = await verdict();
      assert.equal(promises.length, 6);
      const unkept = promises.filter((promise) => promise.verdict !== 'kept');
      return [name, unkept.map((promise) => promise.name)];
    }),
  );
  t.diagnostic(`${Math.round(performance.now() - startedMs)} ms`);
  return Object.fromEntries(unkept.filter(([, promises]) => promises.length > 0));
}

const listings: readonly ListingName[] = ['brands', 'balances'];

type Unkept = Partial<Record<ScenarioName, readonly string[]>>;

/** It retries without a wait, and does not know that a walk can start again. */
const ofIgnores429: Unkept = {
  'rate-limited': ['waited-as-asked', 'did-not-hammer'],
  unavailable: ['waited-as-asked', 'did-not-hammer'],
  'server-error': ['did-not-hammer'],
  'bad-gateway': ['did-not-hammer'],
  torn: ['did-not-hammer'],
  stalled: ['did-not-hammer'],
  'expired-cursor': ['reached-the-last-page', 'resumed'],
};

/** It passes `expired-cursor`, where a restart is right, and stops at no error. */
const ofRestarts: Unkept = {
  'rate-limited': ['resumed'],
  unavailable: ['resumed'],
  'server-error': ['resumed'],
  'bad-gateway': ['resumed'],
  torn: ['resumed'],
  stalled: ['resumed'],
  'key-revoked': ['stopped-on-final-errors'],
  'grant-revoked': ['stopped-on-final-errors'],
  'unknown-error': ['stopped-on-final-errors'],
};

const ofStopsEarly: Unkept = { 'short-pages': ['reached-the-last-page'], redirect: ['kept-its-key'] };

const naive: readonly [
  fault: string,
  program: (target: Target) => Promise<void>,
  listing: ListingName,
  expected: Unkept,
][] = [
  ['that ignores 429', ignores429, 'brands', ofIgnores429],
  ['that restarts on any fault', restartsOnAnyFault, 'balances', ofRestarts],
  ['that stops at a short page and follows redirects', stopsEarlyAndFollows, 'brands', ofStopsEarly],
];

for (const listing of listings) {
  test(`the client keeps every promise in a plain loop over ${listing}`, async (t) => {
    const returned = new Map<string, number>();
    const unkept = await unkeptBy(t, listing, async (variables) => {
      const [apiKey, baseUrl] = [variables.PARTNER_NETWORK_API_KEY!, variables.PARTNER_NETWORK_BASE_URL!];
      const network = new PartnerNetwork({ apiKey, baseUrl, timeoutMs: 2_000 });
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

for (const [fault, program, listing, expected] of naive) {
  test(`a program ${fault} fails exactly these scenarios of ${listing}`, async (t) => {
    // On a busy machine, a retry without a wait can take longer than 50 ms.
    const { hammerMs } = rehearsalsBounds;
    t.after(() => Object.assign(rehearsalsBounds, { hammerMs }));
    if (program === ignores429) rehearsalsBounds.hammerMs = 1_500;
    const unkept = await unkeptBy(t, listing, (variables) => {
      const customer = `customer_id=${variables.PARTNER_NETWORK_CUSTOMER_ID}&type=CHECKING&`;
      const query = listing === 'brands' ? '' : customer;
      const url = `${variables.PARTNER_NETWORK_BASE_URL}/${listing}?${query}`;
      return program({ url, apiKey: variables.PARTNER_NETWORK_API_KEY! });
    });
    assert.deepEqual(unkept, expected);
  });
}
