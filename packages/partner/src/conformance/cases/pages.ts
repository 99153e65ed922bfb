/** The pagination rules and the filter, on real walks. */
import { Skip } from '../case.ts';
import { type Find, type Finders, settled, table } from './table.ts';
import {
  idsOf,
  type Listing,
  madeUp,
  type Page,
  page,
  someRecords,
  type Walk,
  walk,
  walksOf,
} from './walks.ts';

const inWalks = (find: (walk: Walk) => Page | undefined) => (listing: Listing) =>
  settled(async (probe, isAgain) => {
    const [large, small] = await walksOf(probe, listing, isAgain);
    return (find(large) ?? find(small))?.answer;
  });

const inPages = (isBroken: (page: Page, walk: Walk) => boolean) =>
  inWalks((walk) => walk.pages.find((one) => isBroken(one, walk)));

/** The first page with a record that an earlier place of the walk has. */
function repetition({ pages }: Walk): Page | undefined {
  const seen = new Set<string>();
  return pages.find(({ records }) => {
    const before = seen.size;
    for (const id of idsOf(records)) seen.add(id);
    return seen.size < before + records.length;
  });
}

/** The first page with an id that is not after the id before it. */
function disorder({ pages }: Walk): Page | undefined {
  let last = Buffer.alloc(0);
  return pages.find(({ records }) =>
    idsOf(records).some((text) => {
      const before = last;
      last = Buffer.from(text);
      return Buffer.compare(before, last) >= 0;
    }),
  );
}

/** Prefers a reference_id that several brands have, and reads one record a page. */
const filtered: Find = settled(async (probe, isAgain) => {
  const { records } = await someRecords(probe, 'brands', isAgain);
  const all = records.map((record) => String(record.reference_id));
  const reference_id = all.find((value, index) => all.indexOf(value) < index) ?? all[0]!;
  const found = await walk(probe, 'brands', { reference_id, limit: 1 });
  const stranger = found.pages.find((one) => one.records.some((r) => r.reference_id !== reference_id));
  const expected = idsOf(records.filter((record) => record.reference_id === reference_id));
  const isLost = found.isComplete && !expected.every((id) => idsOf(found.records).includes(id));
  return (stranger ?? repetition(found) ?? (isLost ? found.pages.at(-1) : undefined))?.answer;
});

const finders: Finders = {
  otherCursor: inPages(({ body: { cursor } }) => cursor !== undefined && typeof cursor !== 'string'),
  needlessCursor: inPages(({ body, cursor }) => cursor === undefined && 'cursor' in body),
  unknownField: inPages(({ body }) => !/^(brands|balances)(,cursor)?$/.test(Object.keys(body).join())),
  overLimit: inPages(({ records }, { limit }) => records.length > limit),
  emptyPage: inPages(({ records }, { pages }) => pages.length > 1 && records.length === 0),
  repetition: inWalks(repetition),
  disorder: inWalks(disorder),
  difference: (listing) =>
    settled(async (probe, isAgain) => {
      const walks = await walksOf(probe, listing, isAgain);
      if (!walks.every(({ isComplete }) => isComplete)) throw new Skip('at most 10 pages of records');
      const [large, small] = walks.map(({ records }) => idsOf(records).sort().join('\n'));
      return large === small ? undefined : walks[1].pages.at(-1)!.answer;
    }),
  filtered: () => filtered,
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
brands.filter.match: A walk with reference_id finds every brand with this value once, and no other | filtered
brands.filter.no-match: A reference_id that no brand has gives an empty list without a cursor |
  unmatched brands
# 4.3.2 specification
*.walk.unique: A cursor gives the next records: no record comes twice in a walk | repetition *
# 4.3.3 specification
*.walk.complete: A walk ends after the last record: a small and a large limit find the same records |
  difference *
# Pagination decisions
*.page.known-fields: A page has * and then cursor, and no other field | unknownField *
*.page.not-empty: No page of several is empty | emptyPage *
*.page.last: On the last page, cursor is absent: not empty and not null | needlessCursor *
*.page.default-limit: A page without limit is the page with limit=50 | /*?{*} -> the same as /*?{*}&limit=50
*.page.largest-limit: limit=100 is accepted | /*?{*}&limit=100 -> 200
*.walk.order: Records come in ascending order of the bytes of id | disorder *
`,
  finders,
);
