/** A list call: await it for one page, or iterate over it for every record of every page. */
export interface PageList<Page, Item> extends Promise<Page>, AsyncIterable<Item> {
  /** Iterates over the pages. */
  pages(): AsyncIterable<Page>;
}

/**
 * Sends nothing before the list is awaited or iterated over, and asks for the first page only once. It is not
 * a real promise, which could not know whether somebody waits for it.
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
    // biome-ignore lint/suspicious/noThenProperty: a list is awaited like a promise
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
