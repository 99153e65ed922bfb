/** What the pages of all listings have. */
export interface PageOf<Page> {
  /** Absent on the last page. */
  readonly cursor?: string;
  /**
   * The next page with the same parameters, or null after the last page. If this page's cursor became
   * invalid, the walk starts again, once, and `next` resolves to the first page with further records.
   */
  next(): Promise<Page | null>;
}

/**
 * A list call. Await it for one page, or iterate over it for every record of every page. It sends no request
 * before that.
 *
 * @example One page, then the next
 * ```ts
 * const first = await network.brands.list({ limit: 2 });
 * const second = await first.next();
 * console.log(second?.brands[0]?.reference_id);
 * ```
 *
 * @example Every page
 * ```ts
 * for await (const { brands } of network.brands.list().pages()) {
 *   console.log(brands.length);
 * }
 * ```
 */
export interface PageList<Page, Item> extends Promise<Page>, AsyncIterable<Item> {
  /** Iterates over the pages. */
  pages(): AsyncIterable<Page>;
}

/** Not a real promise: it sends nothing before it is awaited or iterated over, and the first page once. */
export function createPageList<Page extends PageOf<Page>, Item>(
  requestFirst: () => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): PageList<Page, Item> {
  let requested: Promise<Page> | undefined;
  const first = () => (requested ??= requestFirst());
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
