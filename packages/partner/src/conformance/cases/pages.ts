/** Pages of the two listings, the walks over them that the cases of a run share, and what they promise. */
import type { ListingName } from '@partner-network/contract/operations';
import { Cases, type Check, settled } from '../case.ts';
import { isObject } from '../json.ts';
import { type As, list, madeUp, type Probe, type Query } from '../probe.ts';
import { Failure, Skip } from '../send.ts';

export type Item = Readonly<Record<string, unknown>>;
type Page = Awaited<ReturnType<typeof page>>;
type Walk = Awaited<ReturnType<typeof walk>>;

const idsOf = (records: readonly Item[]) => records.map(({ id }) => String(id));

export async function page(probe: Probe, listing: ListingName, query?: Query, as?: As) {
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

async function walk(probe: Probe, listing: ListingName, query: Query = {}) {
  const pages: Page[] = [];
  do pages.push(await page(probe, listing, { ...query, cursor: pages.at(-1)?.cursor }));
  while (pages.at(-1)!.cursor !== undefined && pages.length < mostPages);
  const records = pages.flatMap((one) => one.records);
  return { limit: Number(query.limit ?? 50), pages, records, isComplete: pages.at(-1)!.cursor === undefined };
}

/** The walks with the default limit, and with about 8 pages for the same records. */
const walksOf = (probe: Probe, listing: ListingName) =>
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

/** Finds the page of a walk that breaks the promise. */
const inWalks = (listing: ListingName, find: (walk: Walk) => Page | undefined): Check =>
  settled(async (probe) => {
    const [large, small] = await walksOf(probe, listing);
    return (find(large) ?? find(small))?.answer;
  });

const everyPage = (listing: ListingName, isKept: (page: Page, walk: Walk) => boolean) =>
  inWalks(listing, (walk) => walk.pages.find((one) => !isKept(one, walk)));

/** Finds the first page up to which the ids of a walk break a promise. */
const byIds = (isBroken: (ids: readonly string[]) => boolean) => (walk: Walk) =>
  walk.pages.find((_, index) =>
    isBroken(idsOf(walk.pages.slice(0, index + 1).flatMap(({ records }) => records))),
  );

/** A record that an earlier place of the walk has. */
const repetition = byIds((ids) => new Set(ids).size < ids.length);

/** An id that is not after the id before it. */
const disorder = byIds((ids) =>
  ids.some((id, at) => Buffer.compare(Buffer.from(ids[at - 1] ?? ''), Buffer.from(id)) >= 0),
);

/** Compares the records of both walks. */
const sameRecords = (listing: ListingName): Check =>
  settled(async (probe) => {
    const walks = await walksOf(probe, listing);
    if (!walks.every(({ isComplete }) => isComplete)) throw new Skip('at most 10 pages of records');
    const [large, small] = walks.map(({ records }) => idsOf(records).sort().join('\n'));
    return large === small ? undefined : walks[1].pages.at(-1)!.answer;
  });

/** Prefers a reference_id that several brands have, and reads one record a page. */
const filtered: Check = settled(async (probe) => {
  const { records } = await someRecords(probe, 'brands');
  const all = records.map((record) => String(record.reference_id));
  const reference_id = all.find((value, index) => all.indexOf(value) < index) ?? all[0]!;
  const found = await walk(probe, 'brands', { reference_id, limit: 1 });
  const stranger = found.pages.find((one) => one.records.some((r) => r.reference_id !== reference_id));
  const expected = idsOf(records.filter((record) => record.reference_id === reference_id));
  const isLost = found.isComplete && !expected.every((id) => idsOf(found.records).includes(id));
  return (stranger ?? repetition(found) ?? (isLost ? found.pages.at(-1) : undefined))?.answer;
});

const unmatched: Check = async (probe) => {
  const { answer, records, cursor } = await page(probe, 'brands', { reference_id: madeUp });
  return records.length === 0 && cursor === undefined ? undefined : answer;
};

const pagesOf = (listing: ListingName) =>
  new Cases()
    .promise('page.shape', `A page is a JSON object with a list ${listing}, and cursor is a text or absent`)
    .holds(everyPage(listing, ({ body }) => ['undefined', 'string'].includes(typeof body.cursor)))
    .promise('page.limit', 'A page has at most as many records as limit says, 50 by default')
    .holds(everyPage(listing, ({ records }, { limit }) => records.length <= limit)).all;

const brands = new Cases('4.2')
  .under('brands', ...pagesOf('brands'))
  .promise(
    'brands.filter.match',
    'A walk with reference_id finds every brand with this value once, and no other',
  )
  .holds(filtered)
  .promise('brands.filter.no-match', 'A reference_id that no brand has gives an empty list without a cursor')
  .holds(unmatched);

const balances = new Cases('4.1').under('balances', ...pagesOf('balances'));

const cursors = new Cases('4.3.2').ofBoth((listing) =>
  new Cases()
    .promise('walk.unique', 'A cursor gives the next records: no record comes twice in a walk')
    .holds(inWalks(listing, repetition)),
);

const ends = new Cases('4.3.3').ofBoth((listing) =>
  new Cases()
    .promise(
      'walk.complete',
      'A walk ends after the last record: a small and a large limit find the same records',
    )
    .holds(sameRecords(listing)),
);

const pagination = new Cases('Pagination').ofBoth((listing) =>
  new Cases()
    .promise('page.known-fields', `A page has ${listing} and then cursor, and no other field`)
    .holds(everyPage(listing, ({ body }) => /^\w+(,cursor)?$/.test(Object.keys(body).join())))
    .promise('page.not-empty', 'No page of several is empty')
    .holds(everyPage(listing, ({ records }, { pages }) => pages.length === 1 || records.length > 0))
    .promise('page.last', 'On the last page, cursor is absent: not empty and not null')
    .holds(everyPage(listing, ({ body, cursor }) => cursor !== undefined || !('cursor' in body)))
    .promise('page.default-limit', 'A page without limit is the page with limit=50')
    .same(list[listing](), { limit: 50 })
    .promise('page.largest-limit', 'limit=100 is accepted')
    .gets(200, list[listing]({ limit: 100 }))
    .promise('walk.order', 'Records come in ascending order of the bytes of id')
    .holds(inWalks(listing, disorder)),
);

export const pages = [brands, balances, cursors, ends, pagination];
