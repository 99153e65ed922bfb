/** Partners who walk through their listings by the client, over and over, and try what they must not. */
import { setTimeout as wait } from 'node:timers/promises';
import {
  ApiError,
  type BalancesPage,
  type BrandsPage,
  PartnerNetwork,
  PartnerNetworkError,
} from '@partner-network/client';
import type { Chance } from './chance.ts';
import type { Question, Recorder } from './recorder.ts';
import {
  allCustomers,
  customersOf,
  type IssuedKey,
  type PartnerId,
  partners,
  references,
  steadyKeys,
} from './world.ts';
import type { PassingKeys } from './writers.ts';

interface Loading {
  readonly baseUrl: string;
  readonly recorder: Recorder;
  readonly chance: Chance;
  readonly keys: PassingKeys;
  isOver(): boolean;
}

/** What one walk asks for, page by page. */
type Errand = Pick<Question, 'listing' | 'limit' | 'referenceId' | 'customerId'> & {
  readonly key: IssuedKey;
};

interface Walker {
  readonly errand: () => Errand | undefined;
  /** Between pages, more or less. */
  readonly pauseMs: number;
}

const limits = [3, 7, 20, 50, 100];
/** Together they ask for more than the rate admits, so that the limiter has to decide. */
const busyWalkers = 20;
const busyPauseMs = 60;
const calmPauseMs = 200;
const againMs = 100;
const timeoutMs = 6_000;
let walks = 0;

function walkersOf({ chance, keys }: Loading): readonly Walker[] {
  const brands = (key: IssuedKey | undefined): Errand | undefined => {
    const referenceId =
      chance.fraction() < 0.3 ? `reference ${chance.between(0, references - 1)}` : undefined;
    return key && { listing: 'brands', key, limit: chance.oneOf(limits), referenceId };
  };
  const balances = (partnerId: PartnerId, customers: readonly string[]): Errand => ({
    listing: 'balances',
    key: steadyKeys[partnerId],
    customerId: chance.oneOf(customers),
    limit: chance.between(4, 30),
  });
  return [
    ...Array.from({ length: busyWalkers }, () => ({
      errand: () => brands(steadyKeys.acme),
      pauseMs: busyPauseMs,
    })),
    ...partners.flatMap((partnerId) => [
      { errand: () => brands(steadyKeys[partnerId]), pauseMs: calmPauseMs },
      { errand: () => brands(keys.current.get(partnerId)), pauseMs: calmPauseMs },
      { errand: () => balances(partnerId, customersOf(partnerId, 'steady')), pauseMs: calmPauseMs },
      { errand: () => balances(partnerId, customersOf(partnerId, 'wavering')), pauseMs: calmPauseMs },
      // Of another partner's customers among others.
      { errand: () => balances(partnerId, allCustomers), pauseMs: calmPauseMs },
    ]),
    { errand: () => brands(keys.revoked.at(-1)), pauseMs: calmPauseMs },
  ];
}

/** Until the run is over. */
export async function walkOn(loading: Loading): Promise<void> {
  await Promise.all(
    walkersOf(loading).map(async (walker) => {
      while (!loading.isOver()) {
        const errand = walker.errand();
        const pauseMs = () => loading.chance.between(0, 2 * walker.pauseMs);
        if (errand !== undefined) await walk(loading, errand, pauseMs, false);
        await wait(pauseMs());
      }
    }),
  );
}

/** When all is quiet: everything that there is, once. */
export async function walkThroughAll(loading: Loading): Promise<void> {
  const limit = 100;
  for (const partnerId of partners) {
    const key = steadyKeys[partnerId];
    await walk(loading, { listing: 'brands', key, limit }, () => 0, true);
    for (const customerId of customersOf(partnerId, 'steady')) {
      await walk(loading, { listing: 'balances', key, customerId, limit }, () => 0, true);
    }
  }
}

async function walk(
  { baseUrl, recorder, isOver }: Loading,
  errand: Errand,
  pauseMs: () => number,
  isLast: boolean,
): Promise<void> {
  walks += 1;
  const { key, listing, limit, customerId, referenceId } = errand;
  const { partnerId, id: keyId } = key;
  const number = walks;
  let question: Question = {
    walk: number,
    listing,
    partnerId,
    keyId,
    limit,
    customerId,
    referenceId,
    page: 0,
  };
  const network = new PartnerNetwork({
    apiKey: key.text,
    baseUrl,
    maxRate: 0,
    timeoutMs,
    fetch: recorder.fetchFor(() => question),
  });
  const first = () => firstPage(network, errand);
  const isGivenUp = () => isOver() && !isLast;
  let page = await patiently<BrandsPage | BalancesPage>(first, isGivenUp);
  while (page?.cursor !== undefined) {
    await wait(pauseMs());
    const { next } = page;
    const items: readonly { id: string }[] = 'brands' in page ? page.brands : page.balances;
    question = { ...question, page: question.page + 1, after: items.at(-1)?.id };
    page = isGivenUp() ? undefined : await patiently<BrandsPage | BalancesPage>(next, isGivenUp);
  }
  recorder.end({ walk: number, isComplete: page !== undefined, isLast });
}

async function firstPage(
  network: PartnerNetwork,
  { listing, limit, customerId, referenceId }: Errand,
): Promise<BrandsPage | BalancesPage> {
  if (listing === 'brands') return network.brands.list({ limit, reference_id: referenceId });
  return network.balances.list({ limit, customer_id: customerId!, type: 'CHECKING' });
}

/** Again and again through whatever passes. Nothing when it is refused for good, or all is over. */
async function patiently<Page>(
  ask: () => Promise<Page | null>,
  isGivenUp: () => boolean,
): Promise<Page | undefined> {
  while (true) {
    try {
      return (await ask()) ?? undefined;
    } catch (error) {
      if (!(error instanceof PartnerNetworkError)) throw error;
      const isForGood = error instanceof ApiError && error.status < 500 && error.status !== 429;
      if (isForGood || isGivenUp()) return undefined;
      await wait(againMs);
    }
  }
}
