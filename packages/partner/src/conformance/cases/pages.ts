/** The pagination rules and the filter, on real walks. */
import type { ListingName } from '@partner-network/contract/operations';
import { type Check, ofBoth, section, settled, under } from '../case.ts';
import { list, madeUp } from '../probe.ts';
import { Skip } from '../send.ts';
import { idsOf, type Page, page, someRecords, type Walk, walk, walksOf } from './walks.ts';

/** Finds the page of a walk that breaks the promise. */
const inWalks = (listing: ListingName, find: (walk: Walk) => Page | undefined): Check =>
  settled(async (probe) => {
    const [large, small] = await walksOf(probe, listing);
    return (find(large) ?? find(small))?.answer;
  });

const everyPage = (listing: ListingName, isKept: (page: Page, walk: Walk) => boolean) =>
  inWalks(listing, (walk) => walk.pages.find((one) => !isKept(one, walk)));

/** The ids of all pages up to one. */
const idsUpTo = ({ pages }: Walk, index: number) =>
  idsOf(pages.slice(0, index + 1).flatMap(({ records }) => records));

/** The first page with a record that an earlier place of the walk has. */
const repetition = (walk: Walk) =>
  walk.pages.find((_, index) => {
    const ids = idsUpTo(walk, index);
    return new Set(ids).size < ids.length;
  });

/** The first page with an id that is not after the id before it. */
const disorder = (walk: Walk) =>
  walk.pages.find((_, index) => {
    const ids = idsUpTo(walk, index).map((id) => Buffer.from(id));
    return ids.some((id, at) => Buffer.compare(ids[at - 1] ?? Buffer.alloc(0), id) >= 0);
  });

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

// biome-ignore format: a case has two lines, its promise and how it is checked.
const pagesOf = (listing: ListingName) => under(listing, {
  'page.shape': { promise: `A page is a JSON object with a list ${listing}, and cursor is a text or absent`,
    check: everyPage(listing, ({ body }) => ['undefined', 'string'].includes(typeof body.cursor)) },
  'page.limit': { promise: 'A page has at most as many records as limit says, 50 by default',
    check: everyPage(listing, ({ records }, { limit }) => records.length <= limit) },
});

// biome-ignore format: a case has two lines, its promise and how it is checked.
export const pages = [
  section('4.2', {
    ...pagesOf('brands'),
    'brands.filter.match': { check: filtered,
      promise: 'A walk with reference_id finds every brand with this value once, and no other' },
    'brands.filter.no-match': { check: unmatched,
      promise: 'A reference_id that no brand has gives an empty list without a cursor' },
  }),
  section('4.1', pagesOf('balances')),
  section('4.3.2', ofBoth((listing) => ({
    'walk.unique': { promise: 'A cursor gives the next records: no record comes twice in a walk',
      check: inWalks(listing, repetition) },
  }))),
  section('4.3.3', ofBoth((listing) => ({
    'walk.complete': { check: sameRecords(listing),
      promise: 'A walk ends after the last record: a small and a large limit find the same records' },
  }))),
  section('Pagination', ofBoth((listing) => ({
    'page.known-fields': { promise: `A page has ${listing} and then cursor, and no other field`,
      check: everyPage(listing, ({ body }) => /^\w+(,cursor)?$/.test(Object.keys(body).join())) },
    'page.not-empty': { promise: 'No page of several is empty',
      check: everyPage(listing, ({ records }, { pages }) => pages.length === 1 || records.length > 0) },
    'page.last': { promise: 'On the last page, cursor is absent: not empty and not null',
      check: everyPage(listing, ({ body, cursor }) => cursor !== undefined || !('cursor' in body)) },
    'page.default-limit': { promise: 'A page without limit is the page with limit=50',
      ...list[listing](), sameWith: { limit: 50 } },
    'page.largest-limit': { promise: 'limit=100 is accepted', ...list[listing]({ limit: 100 }), gets: 200 },
    'walk.order': { promise: 'Records come in ascending order of the bytes of id',
      check: inWalks(listing, disorder) },
  }))),
].flat();
