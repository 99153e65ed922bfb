import { pause } from './abortable.ts';
import type { Answer } from './answer.ts';
import { attemptOnce } from './attempt.ts';
import { ApiError, PartnerNetworkError } from './errors.ts';
import { type CallOptions, checkCall, HookFailure, type Settings } from './options.ts';
import { createPace } from './pace.ts';
import { createPageList, type PageList, type PageOf } from './page-list.ts';
import { holdMsOf, withRetries } from './retry.ts';

type Params = Readonly<Record<string, unknown>>;

/** The `list` of one listing. Its calls share one pace, because the service counts them together. */
export function createList<ListParams extends object, Page extends PageOf<Page>, Item>(
  settings: Settings,
  name: string,
  ratePerSecond: number,
  defaults: Params = {},
): (params?: ListParams, options?: CallOptions) => PageList<Page, Item> {
  const take = createPace(ratePerSecond || Infinity);

  async function attempt(url: string, number: number, signal: AbortSignal | undefined, timeoutMs: number) {
    const release = await take(signal, number > 1);
    try {
      const answer = await attemptOnce(settings, { name, url, number, timeoutMs }, signal);
      release(true, undefined);
      return answer;
    } catch (error) {
      release(false, holdMsOf(error));
      throw error;
    }
  }

  return (params, options) => {
    const { signal, timeoutMs, maxRetries } = checkCall(options, settings);
    // A copy, because the caller may change its object before the list is awaited and the request sent.
    const given: Record<string, unknown> = { ...params };
    for (const [field, value] of Object.entries(defaults)) given[field] ??= value;
    // Its stack names the caller's line, which is lost after the first await. Takes about 6 µs.
    const caller = new Error();
    async function request(query: Params): Promise<Answer> {
      const url = `${settings.baseUrl}/${name}${queryOf(query)}`;
      try {
        return await withRetries(maxRetries, signal, (number) => attempt(url, number, signal, timeoutMs));
      } catch (error) {
        if (error instanceof HookFailure) throw error.cause;
        if (error instanceof PartnerNetworkError) appendStack(error, caller);
        throw error;
      }
    }
    return createPageList(
      () => requestPage<Page>({ name, request, signal }, given, { cursors: [], isRestarted: false }),
      (page) => itemsOf<Item>(page, name),
    );
  };
}

/** Only a stack of V8's form: a program may have replaced how stacks are made. */
function appendStack(error: Error, { stack }: Error): void {
  if (/^Error\n/.test(String(stack))) error.stack += String(stack).slice('Error'.length);
}

/** Cursors that a walk remembers. A service that sends one of them again would make the walk endless. */
const rememberedCursors = 100;

/** After a rotation of the cursor key, instances need up to this long to agree which cursors are valid. */
const restartDelayMs = 1_000;

interface Listing {
  readonly name: string;
  readonly signal: AbortSignal | undefined;
  request(query: Params): Promise<Answer>;
}

/** Where a walk is. */
interface Walk {
  readonly cursors: readonly unknown[];
  readonly isRestarted: boolean;
  /** The id of the last record that the walk returned. */
  readonly lastId?: unknown;
}

/** A page and its `next()`. Only the cursor ends a walk: a page may be empty. */
async function requestPage<Page extends PageOf<Page>>(
  listing: Listing,
  params: Params,
  { cursors: earlier, isRestarted, lastId: returnedId }: Walk,
): Promise<Page> {
  const { name, signal } = listing;
  const answer = await listing.request(params);
  const { cursor } = answer;
  const items = isRestarted ? answer.items.filter((item) => isAfter(idOf(item), returnedId)) : answer.items;
  const lastId = items.length > 0 ? idOf(items.at(-1)) : returnedId;
  const cursors = [...earlier.slice(1 - rememberedCursors), params.cursor];

  async function next(): Promise<Page | null> {
    if (cursor === '') return null;
    if (cursors.includes(cursor))
      throw new PartnerNetworkError(`The service repeated a cursor of ${name}, so the walk would not end.`);
    try {
      return await requestPage<Page>(listing, { ...params, cursor }, { cursors, isRestarted, lastId });
    } catch (error) {
      const isExpired = error instanceof ApiError && error.code === 'INVALID_CURSOR';
      if (!isExpired || isRestarted || lastId === undefined) throw error;
    }
    await pause(restartDelayMs, signal);
    const again = { cursors: [], isRestarted: true, lastId };
    let page: Page | null = await requestPage<Page>(listing, { ...params, cursor: undefined }, again);
    // Pages whose records were all returned before.
    while (page?.cursor !== undefined && itemsOf(page, name).length === 0) page = await page.next();
    return page;
  }
  return { [name]: items, ...(cursor !== '' && { cursor }), next } as unknown as Page;
}

function itemsOf<Item>(page: object, name: string): readonly Item[] {
  return (page as Readonly<Record<string, readonly Item[]>>)[name]!;
}

function idOf(item: unknown): unknown {
  return Object(item).id;
}

/** Listings are sorted by the bytes of the id in UTF-8, which is the order of code points. */
function isAfter(a: unknown, b: unknown): boolean {
  const points = [...String(a)];
  const others = [...String(b)];
  const at = points.findIndex((point, index) => point !== others[index]);
  return at >= 0 && points[at]!.codePointAt(0)! > (others[at]?.codePointAt(0) ?? -1);
}

function queryOf(params: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const text = String(query);
  return text === '' ? '' : `?${text}`;
}
