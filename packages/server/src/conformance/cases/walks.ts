/** The two listings, and the walks over them that the cases of a run share. */
import { randomBytes } from 'node:crypto';
import type { ListingName } from '@partner-network/contract/operations';
import { type Answer, type Probe, type Query, Skip } from '../case.ts';

export type Item = Readonly<Record<string, unknown>>;
export type Listing = ListingName;
export const listings: readonly Listing[] = ['brands', 'balances'];

export interface Page {
  readonly answer: Answer;
  readonly records: readonly Item[];
  /** Undefined on the last page, also where the answer has an empty cursor. */
  readonly cursor: string | undefined;
}

export interface Walk {
  readonly pages: readonly Page[];
  readonly records: readonly Item[];
  /** False if there are more pages. */
  readonly isComplete: boolean;
}

/** A walk stops after this number of pages, so that a deployment can have a million brands. */
const mostPages = 10;

export const isObject = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const idsOf = (records: readonly Item[]) => records.map(({ id }) => String(id));

/** An id, name or reference that no deployment knows. */
export const madeUp = () => `conformance-${randomBytes(12).toString('hex')}`;

export async function page(probe: Probe, listing: Listing, more: Query = {}): Promise<Page> {
  const required = { customer_id: probe.given.PARTNER_NETWORK_CUSTOMER_ID, type: 'CHECKING' };
  const answer = await probe.get(`/${listing}`, { ...(listing === 'balances' && required), ...more });
  const found = isObject(answer.json) ? answer.json : {};
  const list = found[listing];
  const isPage = answer.status === 200 && Array.isArray(list) && list.every(isObject);
  probe.expect(answer, isPage, `status 200 and a JSON object with a list ${listing}`);
  const cursor = typeof found.cursor === 'string' && found.cursor !== '' ? found.cursor : undefined;
  return { answer, records: list as Item[], cursor };
}

/** Without a limit, pages have 50 records: the specification does not say how large a limit may be. */
export async function walk(probe: Probe, listing: Listing, more: Query = {}): Promise<Walk> {
  const pages: Page[] = [];
  do pages.push(await page(probe, listing, { ...more, cursor: pages.at(-1)?.cursor }));
  while (pages.at(-1)!.cursor !== undefined && pages.length < mostPages);
  const isComplete = pages.at(-1)!.cursor === undefined;
  return { pages, records: pages.flatMap(({ records }) => records), isComplete };
}

/** A walk with the default limit, and a walk with a limit that needs about 8 pages for the same records. */
export interface Walks {
  readonly large: Walk;
  readonly small: Walk;
  readonly smallLimit: number;
}

/** The walks of the run, or new ones. */
export async function walksOf(probe: Probe, listing: Listing, isAgain = false): Promise<Walks> {
  if (!isAgain) return probe.once(`walks of ${listing}`, () => walksOf(probe, listing, true));
  const large = await walk(probe, listing);
  const smallLimit = Math.min(49, Math.max(1, Math.ceil(large.records.length / 8)));
  return { large, smallLimit, small: await walk(probe, listing, { limit: smallLimit }) };
}

/** The walk with the default limit, if it has a record. */
export async function someRecords(probe: Probe, listing: Listing, isAgain = false): Promise<Walk> {
  const { large } = await walksOf(probe, listing, isAgain);
  if (large.records.length === 0) throw new Skip(`at least one record of ${listing}`);
  return large;
}

/** A page of one record that has a next page. */
export async function pageWithCursor(probe: Probe, listing: Listing) {
  const first = await probe.once(`${listing} by 1`, () => page(probe, listing, { limit: 1 }));
  if (first.cursor === undefined) throw new Skip(`at least two records of ${listing}`);
  return { ...first, cursor: first.cursor };
}
