/** The search. The service and the browser run this file, so that both find the same. */

/** Words of a question that say nothing about its subject. */
const common = new Set(
  'a an and are can do does for how i in is it me my of on or the to we what when where which why'.split(' '),
);

/** More characters and words are left out: a word costs up to 0.1 ms, and anybody may search. */
const bounds = { characters: 100, words: 4, hits: 10 };

/** `MiniSearch` is the library. Resolves to a function that finds sections, with a part of their text. */
export async function createSearch(MiniSearch, sections) {
  const known = new Set();
  const search = new MiniSearch({
    fields: ['title', 'page', 'text', 'code'],
    storeFields: ['title', 'page', 'text', 'code'],
    processTerm(term) {
      const word = term.toLowerCase();
      known.add(word);
      return word;
    },
  });
  /**
   * Words of a heading count most. A word of three letters also finds longer words: "pip" finds "pipe", but
   * further down. A word that no text has also finds words that differ in one letter.
   */
  const query = {
    boost: { title: 4, page: 2 },
    prefix: ({ length }) => length >= 3,
    fuzzy: (word) => word.length >= 4 && !known.has(word) && 1,
    weights: { prefix: 0.15, fuzzy: 0.05 },
    processTerm: (word) => word,
  };
  // In parts: the whole takes 80 ms, and listings wait for each part.
  await search.addAllAsync(sections);
  return (text) => {
    const all =
      text
        .slice(0, bounds.characters)
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [];
    const telling = all.filter((word) => !common.has(word));
    const words = [...new Set(telling.length > 0 ? telling : all)].slice(0, bounds.words);
    // Sections with more of the words come first, in the order of the library.
    return search
      .search(words.join(' '), query)
      .sort((one, other) => other.queryTerms.length - one.queryTerms.length)
      .slice(0, bounds.hits)
      .map(({ id, title, page, text, code, terms }) => {
        // Code is shown only if a word is nowhere else.
        const shown = placeOf(text, terms) < 0 && placeOf(code, terms) >= 0 ? code : text;
        return { id, title, page, excerpt: excerptOf(shown, Math.max(0, placeOf(shown, terms))) };
      });
  };
}

/** Where the first of these words is in a text. -1 if it has none of them. */
function placeOf(text, terms) {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
  return places.length > 0 ? Math.min(...places) : -1;
}

/** The part of a text around a place, from the beginning of its sentence if that is near. */
function excerptOf(text, first) {
  const sentence = text.lastIndexOf('. ', first) + 1;
  const start = first - sentence < 100 ? sentence : text.lastIndexOf(' ', first - 40);
  const end = text.length - start > 160 ? text.lastIndexOf(' ', start + 160) : text.length;
  const [before, after] = [start > sentence ? '… ' : '', end < text.length ? ' …' : ''];
  return before + text.slice(start, end).trim() + after;
}
