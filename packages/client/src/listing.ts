import type { Answer } from './answer.ts';
import { attemptOnce } from './attempt.ts';
import { follow, type Trail, trailFrom } from './cursor-cycle.ts';
import { PartnerNetworkError } from './errors.ts';
import { isOfHook } from './hooks.ts';
import { type CallOptions, checkCall, type Settings } from './options.ts';
import { createPace } from './pace.ts';
import { createPageList, type PageList } from './page-list.ts';
import { holdMsOf, isOverRate, withRetries } from './retry.ts';

type Params = Readonly<Record<string, unknown>>;

interface PageOf<Page> {
  next(): Promise<Page | null>;
}

/** The `list` of one listing. Its calls share one pace, for the service counts them together. */
export function createList<ListParams extends object, Page extends PageOf<Page>, Item>(
  settings: Settings,
  name: string,
  ratePerSecond: number,
): (params?: ListParams, options?: CallOptions) => PageList<Page, Item> {
  const pace = createPace(ratePerSecond || Infinity);

  async function attempt(url: string, number: number, signal: AbortSignal | undefined, timeoutMs: number) {
    const release = await pace.take(signal, number > 1);
    try {
      const answer = await attemptOnce(settings, { name, url, attempt: number }, { signal, timeoutMs });
      release('grow');
      return answer;
    } catch (error) {
      if (isOverRate(error)) release('halve', holdMsOf(error));
      else release('stay');
      throw error;
    }
  }

  return (params, options) => {
    const { signal, timeoutMs, maxRetries } = checkCall(options, settings);
    // A copy: nothing is sent before the list is awaited, and by then the caller's object may have changed.
    const given: Params = { ...params };
    // Here the stack leads to the caller's line, and after an await no more. It takes some 6 µs.
    const caller = new Error();
    async function ask(query: Params): Promise<Answer> {
      const url = `${settings.baseUrl}/${name}${queryOf(query)}`;
      try {
        return await withRetries(maxRetries, signal, (number) => attempt(url, number, signal, timeoutMs));
      } catch (error) {
        if (error instanceof PartnerNetworkError && !isOfHook(error)) leadTo(caller, error);
        throw error;
      }
    }
    return createPageList(
      () => askPage<Page>(name, ask, given, trailFrom(given.cursor)),
      (page) => (page as Readonly<Record<string, unknown>>)[name] as readonly Item[],
    );
  };
}

/** Where a stack is a text that begins as V8's does; a program may have made something else of it. */
function leadTo({ stack }: Error, error: Error): void {
  if (/^Error\n/.test(String(stack))) error.stack += String(stack).slice('Error'.length);
}

/** A page and the way to the next one, which the cursor alone decides on: a page may be empty. */
async function askPage<Page extends PageOf<Page>>(
  name: string,
  ask: (query: Params) => Promise<Answer>,
  params: Params,
  trail: Trail,
): Promise<Page> {
  const { items, cursor } = await ask(params);
  async function next(): Promise<Page | null> {
    if (cursor === '') return null;
    const longer = follow(trail, cursor);
    if (longer !== null) return askPage<Page>(name, ask, { ...params, cursor }, longer);
    throw new PartnerNetworkError(`The service gave a cursor of ${name} again, so the walk would not end.`);
  }
  return { [name]: items, ...(cursor !== '' && { cursor }), next } as unknown as Page;
}

function queryOf(params: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const text = String(query);
  return text === '' ? '' : `?${text}`;
}
