/** Cases as rows of a table. */
import { type Answer, type Case, Failure, type Probe, type Profile, type Variable } from '../case.ts';
import { type Listing, listings, needsOf } from './walks.ts';

/** The answer that breaks the promise, and what is wrong in it. Undefined if the promise is kept. */
export type Broken = Answer | readonly [answer: Answer, what: string] | undefined;

export type Find = (probe: Probe) => Promise<Broken>;

/** By id. */
export type Rows = Readonly<
  Record<string, readonly [title: string, find: Find, needs?: readonly Variable[]]>
>;

/** Looks once more, with new answers, before a case fails: data may change between two answers. */
export const settled =
  (find: (probe: Probe, isAgain: boolean) => Promise<Broken>): Find =>
  async (probe) =>
    (await find(probe, false)) && find(probe, true);

/** The cases of a section. A failure expects what the title says. */
export function cases(section: string, profile: Profile, rows: Rows): Case[] {
  return Object.entries(rows).map(([id, [title, find, needs = []]]) => ({
    ...{ id, section, profile, title, needs },
    check: async (probe) => {
      const broken = await find(probe);
      if (broken === undefined) return;
      const [answer, what] = 'status' in broken ? [broken] : broken;
      throw new Failure(answer, what === undefined ? title : `${title} (${what})`);
    },
  }));
}

/** The same rows for each listing. Their ids begin with its name. */
export function casesOfBoth(
  section: string | Readonly<Record<Listing, string>>,
  profile: Profile,
  rowsOf: (listing: Listing) => Rows,
): Case[] {
  return listings.flatMap((listing) => {
    const found = cases(typeof section === 'string' ? section : section[listing], profile, rowsOf(listing));
    return found.map((one) => ({
      ...one,
      id: `${listing}.${one.id}`,
      needs: needsOf(listing),
    }));
  });
}
