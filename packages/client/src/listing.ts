import type { Answer } from './answer.ts';
import { attemptOnce } from './attempt.ts';
import { PartnerNetworkError } from './errors.ts';
import { isFromHook } from './hooks.ts';
import { type CallOptions, checkCall, type Settings } from './options.ts';
import { createPace } from './pace.ts';
import { createPageList, type PageList, type PageOf } from './page-list.ts';
import { holdMsOf, withRetries } from './retry.ts';

type Params = Readonly<Record<string, unknown>>;

/** The `list` of one listing. Its calls share one pace, because the service counts them together. */
export function createList<ListParams extends object, Page extends PageOf<Page>, Item>(
  settings: Settings,
  name: string,
  ratePerSecond: number,
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
    const given: Params = { ...params };
    // Its stack names the caller's line, which is lost after the first await. Takes about 6 µs.
    const caller = new Error();
    async function request(query: Params): Promise<Answer> {
      const url = `${settings.baseUrl}/${name}${queryOf(query)}`;
      try {
        return await withRetries(maxRetries, signal, (number) => attempt(url, number, signal, timeoutMs));
      } catch (error) {
        if (error instanceof PartnerNetworkError && !isFromHook(error)) appendStack(error, caller);
        throw error;
      }
    }
    return createPageList(
      () => requestPage<Page>(name, request, given, []),
      (page) => (page as Readonly<Record<string, unknown>>)[name] as readonly Item[],
    );
  };
}

/** Only a stack of V8's form: a program may have replaced how stacks are made. */
function appendStack(error: Error, { stack }: Error): void {
  if (/^Error\n/.test(String(stack))) error.stack += String(stack).slice('Error'.length);
}

/** Cursors that a walk remembers. A service that sends one of them again would make the walk endless. */
const rememberedCursors = 100;

/** A page and its `next()`. Only the cursor ends a walk: a page may be empty. */
async function requestPage<Page extends PageOf<Page>>(
  name: string,
  request: (query: Params) => Promise<Answer>,
  params: Params,
  earlier: readonly unknown[],
): Promise<Page> {
  const { items, cursor } = await request(params);
  const cursors = [...earlier.slice(1 - rememberedCursors), params.cursor];
  async function next(): Promise<Page | null> {
    if (cursor === '') return null;
    if (!cursors.includes(cursor)) return requestPage<Page>(name, request, { ...params, cursor }, cursors);
    throw new PartnerNetworkError(`The service repeated a cursor of ${name}, so the walk would not end.`);
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
