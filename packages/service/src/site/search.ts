/** The search. The same index is made here and, from the same sections and options, in the browser. */
import MiniSearch from 'minisearch';
import type { Section } from './page.ts';

/** What a browser loads when its reader goes to the search box. */
export const searchOptions = {
  index: { fields: ['title', 'page', 'text'], storeFields: ['title', 'page', 'text'] },
  /** The words of a heading count most. Every word must occur: "pip" also finds "pipe", but further down. */
  query: {
    boost: { title: 4, page: 2 },
    combineWith: 'AND',
    prefix: true,
    fuzzy: 0.2,
    weights: { prefix: 0.15, fuzzy: 0.05 },
  },
  most: 12,
} as const;

/** More words and characters are left out. A word costs up to 0.4 ms, and anybody may search. */
const bounds = { words: 6, characters: 100 };

export interface Hit extends Omit<Section, 'text'> {
  readonly excerpt: string;
}

export async function createSearch(sections: readonly Section[]): Promise<(words: string) => Hit[]> {
  const { index, query, most } = searchOptions;
  const search = new MiniSearch<Section>({ fields: [...index.fields], storeFields: [...index.storeFields] });
  // In parts: the whole takes 80 ms, and listings wait for each part.
  await search.addAllAsync(sections);
  return (words) => {
    const first = words.slice(0, bounds.characters).split(/[\s\p{P}]+/u, bounds.words);
    const found = search.search(first.join(' '), { ...query });
    return found.slice(0, most).map(({ id, title, page, text, terms }) => {
      return { id, title, page, excerpt: excerptOf(text, terms) };
    });
  };
}

/** The part of a text around the first word that was found. The script of the pages does the same. */
function excerptOf(text: string, terms: readonly string[]): string {
  const places = terms.map((term) => text.toLowerCase().indexOf(term)).filter((at) => at >= 0);
  const [first = 0] = places.toSorted((one, other) => one - other);
  const start = first < 100 ? 0 : text.lastIndexOf(' ', first - 40) + 1;
  const end = start + 160;
  return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}
