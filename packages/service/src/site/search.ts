/** The search on the server, with the file that the browser runs. */
import MiniSearch from 'minisearch';
import type { Section } from './page.ts';

export interface Hit extends Pick<Section, 'id' | 'title' | 'page'> {
  readonly excerpt: string;
}

type Search = (words: string) => readonly Hit[];

export async function searchOf(sections: readonly Section[]): Promise<Search> {
  const file = new URL('../../assets/site/search.js', import.meta.url);
  const { createSearch } = await import(file.href);
  return createSearch(MiniSearch, sections);
}
