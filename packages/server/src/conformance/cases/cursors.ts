/** What a cursor is bound to, and what may change between pages. */
import type { Case } from '../case.ts';
import { casesOfBoth, type Find } from './rows.ts';
import { table, unless } from './table.ts';
import { type Listing, madeUp, pageWithCursor, queryOf } from './walks.ts';

/** Puts another character in this part of the cursor, from 0 to 1. */
const changedAt = (part: number) => (cursor: string) => {
  const index = Math.round(part * (cursor.length - 1));
  return cursor.slice(0, index) + (cursor[index] === 'A' ? 'B' : 'A') + cursor.slice(index + 1);
};

const changed = (listing: Listing, change: (cursor: string) => string): Find => {
  return async (probe) => {
    const cursor = change((await pageWithCursor(probe, listing)).cursor);
    const answer = await probe.get(`/${listing}`, { ...queryOf(listing, probe), limit: 1, cursor });
    return unless(answer, '400 INVALID_CURSOR cursor');
  };
};

export const cursors: readonly Case[] = [
  ...casesOfBoth('Pagination', 'decisions', (listing) => ({
    'cursor.made-up': ['A made-up cursor is refused', changed(listing, madeUp)],
    'cursor.first-character': [
      'A cursor with another first character is refused',
      changed(listing, changedAt(0)),
    ],
    'cursor.middle': [
      'A cursor with another character in the middle is refused',
      changed(listing, changedAt(0.5)),
    ],
    'cursor.last-character': [
      'A cursor with another last character is refused',
      changed(listing, changedAt(1)),
    ],
    'cursor.cut': ['A cursor without its last character is refused', changed(listing, (c) => c.slice(0, -1))],
    'cursor.doubled': ['A cursor that is written twice is refused', changed(listing, (c) => c + c)],
  })),
  ...table(
    'Pagination',
    'decisions',
    `
brands.cursor.again: The same cursor gives the same page again
  /brands?limit=1&cursor={brands-cursor} -> the next record
brands.cursor.other-limit: limit may change between pages
  /brands?limit=3&cursor={brands-cursor} -> the next record
brands.cursor.other-key: A cursor works with every key of its partner
  as:BRANDS_ONLY /brands?limit=1&cursor={brands-cursor} -> the next record
brands.cursor.other-partner: A cursor does not work for another partner
  as:OTHER_PARTNER /brands?limit=1&cursor={brands-cursor} -> 400 INVALID_CURSOR cursor
brands.cursor.other-filter: A cursor does not work with another reference_id
  /brands?limit=1&reference_id={made-up}&cursor={brands-cursor} -> 400 INVALID_CURSOR cursor
brands.cursor.other-listing: A cursor of balances does not work for brands
  /brands?limit=1&cursor={balances-cursor} -> 400 INVALID_CURSOR cursor
brands.cursor.no-key: A cursor does not replace the key
  as:nobody /brands?limit=1&cursor={brands-cursor} -> 401 UNAUTHORIZED
balances.cursor.again: The same cursor gives the same page again
  /balances?{customer}&limit=1&cursor={balances-cursor} -> the next record
balances.cursor.other-limit: limit may change between pages
  /balances?{customer}&limit=3&cursor={balances-cursor} -> the next record
balances.cursor.other-grant: grant_id may change between pages
  /balances?{customer}&grant_id={GRANT_ID}&cursor={balances-cursor} -> the next record
balances.cursor.other-listing: A cursor of brands does not work for balances
  /balances?{customer}&cursor={brands-cursor} -> 400 INVALID_CURSOR cursor
balances.cursor.grant-on-every-page: The grant is checked on every page
  /balances?{customer}&grant_id={made-up}&cursor={balances-cursor} -> 403 GRANT_NOT_FOUND grant_id
balances.cursor.no-key: A cursor does not replace the key
  as:nobody /balances?{customer}&cursor={balances-cursor} -> 401 UNAUTHORIZED
`,
  ),
];
