/** Pages of the two listings, and the walks over them that the cases of a run share. */
import type { ListingName } from '@partner-network/contract/operations';
import { isObject } from '../json.ts';
import { list, type PathRequest, type Probe, type Query } from '../probe.ts';
import { Failure, Skip } from '../send.ts';

export type Item = Readonly<Record<string, unknown>>;
export type Page = Awaited<ReturnType<typeof page>>;
export type Walk = Awaited<ReturnType<typeof walk>>;

export const idsOf = (records: readonly Item[]) => records.map(({ id }) => String(id));

export async function page(probe: Probe, listing: ListingName, query?: Query, as?: PathRequest['as']) {
  const answer = await probe.send(list[listing](query, as));
  const body: Item = isObject(answer.json) ? answer.json : {};
  const { [listing]: records, cursor } = body;
  if (answer.status !== 200 || !Array.isArray(records) || !records.every(isObject))
    throw new Failure(`status 200 and a JSON object with a list ${listing}`, { cause: answer });
  // On the last page, another implementation may send an empty cursor.
  return { answer, body, records, cursor: typeof cursor === 'string' && cursor ? cursor : undefined };
}

/** A deployment may have a million brands, so a walk may end before the last page. */
const mostPages = 10;

export async function walk(probe: Probe, listing: ListingName, query: Query = {}) {
  const pages: Page[] = [];
  do pages.push(await page(probe, listing, { ...query, cursor: pages.at(-1)?.cursor }));
  while (pages.at(-1)!.cursor !== undefined && pages.length < mostPages);
  const records = pages.flatMap((one) => one.records);
  return { limit: Number(query.limit ?? 50), pages, records, isComplete: pages.at(-1)!.cursor === undefined };
}

/** The walks with the default limit, and with about 8 pages for the same records. */
export const walksOf = (probe: Probe, listing: ListingName) =>
  probe.once(`walks of ${listing}`, async () => {
    const large = await walk(probe, listing);
    const limit = Math.min(49, Math.max(1, Math.ceil(large.records.length / 8)));
    return [large, await walk(probe, listing, { limit })] as const;
  });

/** The walk with the default limit, if it has a record. */
export async function someRecords(probe: Probe, listing: ListingName): Promise<Walk> {
  const [large] = await walksOf(probe, listing);
  if (large.records.length === 0) throw new Skip(`at least one record of ${listing}`);
  return large;
}

/** The cursor of a page of one record. */
export const cursorOf = (listing: ListingName) => async (probe: Probe) => {
  const { cursor } = await probe.once(`${listing} by 1`, () => page(probe, listing, { limit: 1 }));
  if (cursor === undefined) throw new Skip(`at least two records of ${listing}`);
  return cursor;
};

/** The same cursor with another last character. */
export const changedCursorOf = (listing: ListingName) => async (probe: Probe) => {
  const cursor = await cursorOf(listing)(probe);
  return cursor.slice(0, -1) + (cursor.endsWith('A') ? 'B' : 'A');
};
