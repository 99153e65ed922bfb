/** The two listings, and the walks over them that the cases of a run share. */
import { randomBytes } from 'node:crypto';
import type { ListingName } from '@partner-network/contract/operations';
import { Failure, Skip } from '../case.ts';
import type { Probe } from '../probe.ts';
import type { Answer } from '../send.ts';

export type Item = Readonly<Record<string, unknown>>;
export type Listing = ListingName;
export const listings: readonly Listing[] = ['brands', 'balances'];

export interface Page {
  readonly answer: Answer;
  readonly body: Item;
  readonly records: readonly Item[];
  /** Undefined on the last page, also where the answer has an empty cursor. */
  readonly cursor: string | undefined;
}

/** A deployment may have a million brands, so a walk may end before the last page. */
export interface Walk {
  readonly limit: number;
  readonly pages: readonly Page[];
  readonly records: readonly Item[];
  readonly isComplete: boolean;
}

const mostPages = 10;

type Query = Readonly<Record<string, string | number | undefined>>;

export const isObject = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const idsOf = (records: readonly Item[]) => records.map(({ id }) => String(id));

/** An id, name or reference that no deployment knows. */
export const madeUp = () => `conformance-${randomBytes(12).toString('hex')}`;

/** One page. `authorization` is the header of another key than the partner's own. */
export async function page(
  probe: Probe,
  listing: Listing,
  more: Query = {},
  authorization?: string,
): Promise<Page> {
  const required = { customer_id: probe.given.PARTNER_NETWORK_CUSTOMER_ID, type: 'CHECKING' };
  const query = Object.entries({ ...(listing === 'balances' && required), ...more })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value!)}`);
  const answer = await probe.get(`/${listing}?${query.join('&')}`, authorization);
  const body = isObject(answer.json) ? answer.json : {};
  const { [listing]: records, cursor } = body;
  if (answer.status !== 200 || !Array.isArray(records) || !records.every(isObject))
    throw new Failure(`status 200 and a JSON object with a list ${listing}`, { cause: answer });
  return { answer, body, records, cursor: typeof cursor === 'string' && cursor !== '' ? cursor : undefined };
}

export async function walk(probe: Probe, listing: Listing, more: Query = {}): Promise<Walk> {
  const pages: Page[] = [];
  do pages.push(await page(probe, listing, { ...more, cursor: pages.at(-1)?.cursor }));
  while (pages.at(-1)!.cursor !== undefined && pages.length < mostPages);
  const records = pages.flatMap((one) => one.records);
  return { limit: Number(more.limit ?? 50), pages, records, isComplete: pages.at(-1)!.cursor === undefined };
}

/** The walks of the run, or new ones: with the default limit, and with about 8 pages for the same records. */
export function walksOf(probe: Probe, listing: Listing, isAgain = false): Promise<readonly [Walk, Walk]> {
  const make = async () => {
    const large = await walk(probe, listing);
    const limit = Math.min(49, Math.max(1, Math.ceil(large.records.length / 8)));
    return [large, await walk(probe, listing, { limit })] as const;
  };
  return isAgain ? make() : probe.once(`walks of ${listing}`, make);
}

/** The walk with the default limit, if it has a record. */
export async function someRecords(probe: Probe, listing: Listing, isAgain = false): Promise<Walk> {
  const [large] = await walksOf(probe, listing, isAgain);
  if (large.records.length === 0) throw new Skip(`at least one record of ${listing}`);
  return large;
}

/** The cursor of a page of one record. */
export async function cursorOf(probe: Probe, listing: Listing): Promise<string> {
  const { cursor } = await probe.once(`${listing} by 1`, () => page(probe, listing, { limit: 1 }));
  if (cursor === undefined) throw new Skip(`at least two records of ${listing}`);
  return cursor;
}
