/** Partners that walk through their listings with the client, and also try what is forbidden. */
import { setTimeout as wait } from 'node:timers/promises';
import {
  ApiError,
  type BalancesPage,
  type BrandsPage,
  PartnerNetwork,
  PartnerNetworkError,
} from '../../packages/client/src/index.ts';
import type { Chance } from '../../packages/testkit/model/chance.ts';
import type { PageRequest, Recorder } from './record.ts';
import {
  allCustomers,
  customersOf,
  type IssuedKey,
  type PartnerId,
  partners,
  references,
  steadyKeys,
} from './world.ts';
import type { ReplacedKeys } from './writers.ts';

interface Loading {
  readonly baseUrl: string;
  readonly recorder: Recorder;
  readonly chance: Chance;
  readonly keys: ReplacedKeys;
  isOver(): boolean;
}

/** What a walk reads, and with which key. */
type Search = Pick<PageRequest, 'listing' | 'limit' | 'referenceId' | 'customerId'> & {
  readonly key: IssuedKey;
};

interface Walker {
  readonly nextSearch: () => Search | undefined;
  /** The mean pause between pages. */
  readonly pauseMs: number;
}

const limits = [3, 7, 20, 50, 100];
/** Together they exceed the rate, so that the limiter refuses some requests. */
const busyWalkers = 20;
const busyPauseMs = 60;
const calmPauseMs = 200;
const retryMs = 100;
const timeoutMs = 6_000;
let walks = 0;

function walkersOf({ chance, keys }: Loading): readonly Walker[] {
  const brands = (key: IssuedKey | undefined): Search | undefined => {
    const referenceId =
      chance.fraction() < 0.3 ? `reference ${chance.between(0, references - 1)}` : undefined;
    return key && { listing: 'brands', key, limit: chance.oneOf(limits), referenceId };
  };
  const balances = (partnerId: PartnerId, customers: readonly string[]): Search => ({
    listing: 'balances',
    key: steadyKeys[partnerId],
    customerId: chance.oneOf(customers),
    limit: chance.between(4, 30),
  });
  const calm = (nextSearch: Walker['nextSearch']): Walker => ({ nextSearch, pauseMs: calmPauseMs });
  return [
    ...Array.from({ length: busyWalkers }, () => ({
      nextSearch: () => brands(steadyKeys.acme),
      pauseMs: busyPauseMs,
    })),
    ...partners.flatMap((partnerId) => [
      calm(() => brands(steadyKeys[partnerId])),
      calm(() => brands(keys.current.get(partnerId))),
      calm(() => balances(partnerId, customersOf(partnerId, 'steady'))),
      calm(() => balances(partnerId, customersOf(partnerId, 'wavering'))),
      // Includes customers of the other partner.
      calm(() => balances(partnerId, allCustomers)),
    ]),
    calm(() => brands(keys.revoked.at(-1))),
  ];
}

/** Walks until the run is over. */
export async function keepWalking(loading: Loading): Promise<void> {
  await Promise.all(
    walkersOf(loading).map(async (walker) => {
      while (!loading.isOver()) {
        const search = walker.nextSearch();
        const pauseMs = () => loading.chance.between(0, 2 * walker.pauseMs);
        if (search !== undefined) await walk(loading, search, pauseMs);
        await wait(pauseMs());
      }
    }),
  );
}

/** Reads everything once, after the run. */
export async function walkThroughAll(loading: Loading): Promise<void> {
  const limit = 100;
  for (const partnerId of partners) {
    const key = steadyKeys[partnerId];
    await walk(loading, { listing: 'brands', key, limit });
    for (const customerId of customersOf(partnerId, 'steady')) {
      await walk(loading, { listing: 'balances', key, customerId, limit });
    }
  }
}

/** Walks through a listing. A walk without pauses is a last walk, which must reach the last page. */
async function walk(
  { baseUrl, recorder, isOver }: Loading,
  search: Search,
  pauseMs?: () => number,
): Promise<void> {
  walks += 1;
  const { key, ...parameters } = search;
  const isLast = pauseMs === undefined;
  const { id: keyId, partnerId } = key;
  let request: PageRequest = { ...parameters, walk: walks, partnerId, keyId, page: 0 };
  const network = new PartnerNetwork({
    apiKey: key.text,
    baseUrl,
    maxRate: 0,
    timeoutMs,
    fetch: recorder.fetchFor(() => request),
  });
  const isGivenUp = () => isOver() && !isLast;
  let page = await withRetries(() => firstPage(network, search), isGivenUp);
  while (page?.cursor !== undefined) {
    await wait(pauseMs?.() ?? 0);
    const { next } = page;
    const items: readonly { id: string }[] = 'brands' in page ? page.brands : page.balances;
    request = { ...request, page: request.page + 1, after: items.at(-1)?.id };
    page = isGivenUp() ? undefined : await withRetries<Page>(next, isGivenUp);
  }
  recorder.end({ walk: request.walk, isComplete: page !== undefined, isLast });
}

type Page = BrandsPage | BalancesPage;

async function firstPage(network: PartnerNetwork, search: Search): Promise<Page> {
  const { listing, limit, customerId, referenceId } = search;
  if (listing === 'brands') return network.brands.list({ limit, reference_id: referenceId });
  return network.balances.list({ limit, customer_id: customerId!, type: 'CHECKING' });
}

/** Retries temporary errors. Resolves to undefined on a permanent error, or when the run is over. */
async function withRetries<T>(
  request: () => Promise<T | null>,
  isGivenUp: () => boolean,
): Promise<T | undefined> {
  while (true) {
    try {
      return (await request()) ?? undefined;
    } catch (error) {
      if (!(error instanceof PartnerNetworkError)) throw error;
      const isPermanent = error instanceof ApiError && error.status < 500 && error.status !== 429;
      if (isPermanent || isGivenUp()) return undefined;
      await wait(retryMs);
    }
  }
}
