/** The pagination rules and the filter, on real walks. */
import { type Answer, Skip } from '../case.ts';
import { type Find, type Finders, settled, table } from './table.ts';
import {
  type Item,
  idsOf,
  type Listing,
  madeUp,
  type Page,
  page,
  someRecords,
  type Walk,
  type Walks,
  walk,
  walksOf,
} from './walks.ts';

const inWalks = (find: (walks: Walks, listing: Listing) => Answer | undefined) => (listing: Listing) =>
  settled(async (probe, isAgain) => find(await walksOf(probe, listing, isAgain), listing));

/** Finds a page of both walks for which this is true. */
const anyPage = (isBroken: (page: Page, limit: number, listing: Listing) => boolean) =>
  inWalks(({ large, small, smallLimit }, listing) => {
    const found = large.pages.find((one) => isBroken(one, 50, listing));
    return (found ?? small.pages.find((one) => isBroken(one, smallLimit, listing)))?.answer;
  });

const joined = (records: readonly Item[]) => idsOf(records).join('\n');
const sorted = (records: readonly Item[]) => idsOf(records).sort().join('\n');

/** The first page with a record that an earlier place of the walk has. */
function repetition({ pages }: Walk): Answer | undefined {
  const seen = new Set<string>();
  return pages.find(({ records }) => {
    const before = seen.size;
    for (const id of idsOf(records)) seen.add(id);
    return seen.size < before + records.length;
  })?.answer;
}

/** The first page of the small walk that does not continue as the large walk does. */
function departure({ large, small }: Walks): Answer | undefined {
  let place = 0;
  for (const { answer, records } of small.pages) {
    const expected = large.records.slice(place, place + records.length);
    const known = large.isComplete ? records : records.slice(0, expected.length);
    if (joined(known) !== joined(expected)) return answer;
    place += records.length;
  }
  return small.isComplete && place < large.records.length ? small.pages.at(-1)!.answer : undefined;
}

/** The first page with an id that is not after the id before it. */
function disorder({ pages }: Walk): Answer | undefined {
  let last = Buffer.alloc(0);
  return pages.find(({ records }) =>
    idsOf(records).some((text) => {
      const before = last;
      last = Buffer.from(text);
      return Buffer.compare(before, last) >= 0;
    }),
  )?.answer;
}

/** Finds a page of brands by reference_id that is wrong. */
const filtered = (choose: (references: readonly string[]) => string | undefined, limit?: number): Find =>
  settled(async (probe, isAgain) => {
    const { records } = await someRecords(probe, 'brands', isAgain);
    const reference_id = choose(records.map((record) => String(record.reference_id)));
    if (reference_id === undefined) throw new Skip('two brands with the same reference_id');
    const found = await walk(probe, 'brands', { reference_id, limit });
    const stranger = found.pages.find((one) => one.records.some((r) => r.reference_id !== reference_id));
    const expected = idsOf(records.filter((record) => record.reference_id === reference_id));
    const isLost = found.isComplete && !expected.every((id) => idsOf(found.records).includes(id));
    return stranger?.answer ?? repetition(found) ?? (isLost ? found.pages.at(-1)!.answer : undefined);
  });

const finders: Finders = {
  otherCursor: anyPage(({ answer }) => !/string|undefined/.test(typeof (answer.json as Item).cursor)),
  overLimit: anyPage(({ records }, limit) => records.length > limit),
  unknownField: anyPage(
    ({ answer }, _, listing) => !`${listing},cursor`.startsWith(Object.keys(answer.json as Item).join()),
  ),
  emptyPage: anyPage(({ records, cursor }) => cursor !== undefined && records.length === 0),
  needlessCursor: anyPage(({ answer, cursor }) => cursor === undefined && 'cursor' in (answer.json as Item)),
  repetition: inWalks(({ large, small }) => repetition(large) ?? repetition(small)),
  disorder: inWalks(({ large, small }) => disorder(large) ?? disorder(small)),
  departure: inWalks(departure),
  emptyEnd: inWalks(({ large, small }) => {
    const ends = [large, small].filter(({ pages }) => pages.length > 1).map(({ pages }) => pages.at(-1)!);
    return ends.find(({ records }) => records.length === 0)?.answer;
  }),
  difference: inWalks(({ large, small }) => {
    if (!large.isComplete || !small.isComplete) throw new Skip('fewer records, so that they fit on 10 pages');
    return sorted(large.records) === sorted(small.records) ? undefined : small.pages.at(-1)!.answer;
  }),
  // The shortest one is the likeliest to be a part of another.
  filtered: () => filtered((all) => all.toSorted((one, other) => one.length - other.length)[0]),
  filteredWalk: () => filtered((all) => all.find((value, index) => all.indexOf(value) < index), 1),
  unmatched: (listing) => async (probe) => {
    const { answer, records, cursor } = await page(probe, listing, { reference_id: madeUp() });
    return records.length === 0 && cursor === undefined ? undefined : answer;
  },
};

export const pages = table(
  `
# 4.2/4.1 specification
*.page.shape: A page is a JSON object with a list *, and cursor is a text or absent | otherCursor *
*.page.limit: A page has at most as many records as limit says, 50 by default | overLimit *
brands.filter.match: reference_id restricts the list to exactly the brands with this value | filtered
brands.filter.no-match: A reference_id that no brand has gives an empty list without a cursor |
  unmatched brands
# 4.3.2 specification
*.walk.unique: A cursor gives the next records: no record comes twice in a walk | repetition *
brands.filter.walk: A walk with reference_id finds every brand with this value once | filteredWalk
# 4.3.3 specification
*.walk.complete: A walk ends after the last record: a small and a large limit find the same records |
  difference *
# Pagination decisions
*.page.known-fields: A page has * and then cursor, and no other field | unknownField *
*.page.not-empty: A page with a cursor is never empty | emptyPage *
*.page.last: On the last page, cursor is absent: not empty and not null | needlessCursor *
*.page.no-empty-end: No cursor leads to an empty page | emptyEnd *
*.page.default-limit: A page without limit is the page with limit=50 |
  /*?{*} -> the same records as /*?{*}&limit=50
*.page.largest-limit: limit=100 is accepted | /*?{*}&limit=100 -> 200
*.walk.same-order: Walks with a small and a large limit find the same records in the same order | departure *
*.walk.order: Records come in ascending order of the bytes of id | disorder *
`,
  finders,
);
