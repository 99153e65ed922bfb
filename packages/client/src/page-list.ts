/** A list call: a promise of one page, or iterate over it for every record of every page. */
export interface PageList<Page, Item> extends Promise<Page>, AsyncIterable<Item> {
  /** Page by page. */
  pages(): AsyncIterable<Page>;
}

/**
 * Asks for nothing before it is awaited or iterated over; its first page is asked for once. It is no real
 * promise, since such a one could not know that somebody waits for it.
 */
export function createPageList<Page extends { next(): Promise<Page | null> }, Item>(
  askFirst: () => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): PageList<Page, Item> {
  let asked: Promise<Page> | undefined;
  function first(): Promise<Page> {
    asked ??= askFirst();
    return asked;
  }
  async function* pages() {
    for (let page: Page | null = await first(); page !== null; page = await page.next()) yield page;
  }
  return {
    // biome-ignore lint/suspicious/noThenProperty: to be awaited is what it is for
    then: (onPage, onError) => first().then(onPage, onError),
    catch: (onError) => first().catch(onError),
    finally: (onEnd) => first().finally(onEnd),
    [Symbol.toStringTag]: 'PageList',
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* itemsOf(page);
    },
  };
}
