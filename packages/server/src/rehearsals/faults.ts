/** The faults of the scenarios: what is sent in place of the page that the service made. */
import type { ErrorRecord } from '@partner-network/contract/errors';
import { brandsPerSecond, pageSize } from '@partner-network/contract/limits';
import type { ListingName } from '@partner-network/contract/operations';
import { admit } from '../http/rate-limit.ts';
import { errorResponse, type Refusal, refusal } from '../http/refusal.ts';
import { rehearsalsBounds } from './bounds.ts';
import type { ScenarioName } from './scenarios.ts';

export interface Response {
  readonly status: number;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  readonly body: string | Buffer;
  /** `torn`: only half of the body is sent. `stalled`: only the headers are sent. */
  readonly cut?: 'torn' | 'stalled';
}

/** A page, and the request for it. */
export interface Page extends Response {
  readonly listing: ListingName;
  readonly query: string;
  /** Counts the requests for pages in the run. */
  readonly number: number;
  readonly isThird: boolean;
  /** Faults of the run so far. */
  readonly faults: number;
  /** The address of the same page at the other origin. */
  readonly watchedUrl: () => Promise<string>;
}

type Fault = readonly [isDue: (page: Page) => boolean, make: (page: Page) => Response | Promise<Response>];

const at =
  (...numbers: number[]) =>
  (page: Page) =>
    numbers.includes(page.number);
const has = (query: string, parameter: string) => new URLSearchParams(query).has(parameter);

const faults: Partial<Record<ScenarioName, Fault>> = {
  'rate-limited': [at(2, 4), limited],
  unavailable: [at(2, 3), (page) => refused(page, refusal('SERVICE_UNAVAILABLE'))],
  'server-error': [
    at(2),
    (page) => refused(page, refusal('INTERNAL_SERVER_ERROR', { requestId: page.headers[1]! })),
  ],
  'bad-gateway': [at(2), badGateway],
  torn: [at(2), (page) => ({ ...page, cut: 'torn' })],
  stalled: [at(2), (page) => ({ ...page, cut: 'stalled' })],
  'expired-cursor': [
    ({ isThird, faults }) => isThird && faults === 0,
    (page) => refused(page, refusal('INVALID_CURSOR', {}, 'cursor')),
  ],
  // A refused key is not counted, so the response has no rate.
  'key-revoked': [({ number }) => number >= 2, (page) => refused(page, refusal('API_KEY_REVOKED'), common)],
  'grant-revoked': [
    ({ listing, query, faults }) => listing === 'balances' && (faults > 0 || has(query, 'cursor')),
    (page) =>
      refused(page, refusal('GRANT_REVOKED', {}, has(page.query, 'grant_id') ? 'grant_id' : undefined)),
  ],
  'unknown-error': [at(2), unknownError],
  'new-fields': [() => true, withNewFields],
  redirect: [at(2), redirected],
};

/** The response in place of a page, or undefined if the page is sent. */
export async function faultOf(scenario: ScenarioName, page: Page): Promise<Response | undefined> {
  const [isDue, make] = faults[scenario] ?? [];
  return isDue?.(page) ? make?.(page) : undefined;
}

/** The first headers of every response. The headers with the rate come next. */
const common = ({ headers }: Page) => headers.slice(0, 4);
const commonAndRate = ({ headers }: Page) => headers.slice(0, headers.indexOf('Content-Type'));

function refused(page: Page, refusal: Refusal, first = commonAndRate): Response {
  const { headers, body } = errorResponse(refusal);
  return { status: refusal.status, headers: [...first(page), ...headers], body };
}

async function limited(page: Page): Promise<Response> {
  const headers = [...common(page)];
  const rate = /;q=(\d+)/.exec(page.headers[page.headers.indexOf('RateLimit-Policy') + 1]!)?.[1];
  const { retryAfterMs: untilMoreMs } = rehearsalsBounds;
  const decision = { isAdmitted: false, left: 0, untilMoreMs, source: 'memory' } as const;
  const limiter = { ratePerSecond: Number(rate ?? brandsPerSecond), tallies: [], admit: () => decision };
  const refusal = await admit(limiter, page.listing, '', headers).catch((thrown: Refusal) => thrown);
  return refused(page, refusal as Refusal, () => headers);
}

function badGateway(page: Page): Response {
  const title = '502 Bad Gateway';
  const body = `<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;
  const headers = ['Content-Type', 'text/html', 'Content-Length', String(body.length)];
  return { status: 502, headers: [...commonAndRate(page), ...headers], body };
}

function unknownError(page: Page): Response {
  const detail = 'Do not send this request again: it would fail in the same way.';
  const error = { category: 'REHEARSAL_ERROR', code: 'REHEARSED_UNKNOWN_CODE', detail };
  // The types know only errors that exist.
  return refused(page, { status: 400, errors: [error as unknown as ErrorRecord], headers: [] });
}

function withNewFields({ status, listing, headers, body }: Page): Response {
  const added = { new_field: 'This field does not exist yet.', new_object: { list: [1, null], ok: true } };
  const page = JSON.parse(String(body));
  const records = page[listing].map((record: object) => ({ ...added, ...record, new_null: null }));
  const changed = JSON.stringify({ new_page_field: added.new_object, ...page, [listing]: records });
  const others = headers.slice(0, headers.indexOf('Content-Length'));
  const length = String(Buffer.byteLength(changed));
  return { status, headers: [...others, 'Content-Length', length, 'X-New-Header', 'new'], body: changed };
}

async function redirected(page: Page): Promise<Response> {
  const headers = ['Location', await page.watchedUrl(), 'Cache-Control', 'no-store', 'Content-Length', '0'];
  return { status: 307, headers: [...commonAndRate(page), ...headers], body: '' };
}

const limitValue = /(?<=(?:^|&)limit=)(?:[2-9]|[1-9]\d|100)(?=&|$)/;

/** The query of `short-pages`, with half of the limit. A limit of 1, or an invalid one, stays. */
export function shortened(query: string): string {
  if (has(query, 'limit')) return query.replace(limitValue, (limit) => String(Math.floor(Number(limit) / 2)));
  return `${query}${query && '&'}limit=${pageSize.default / 2}`;
}

/** The milliseconds for which a response asks the client to wait. */
export function waitOf({ headers }: Response): number | undefined {
  const ms = headers.indexOf('Retry-After-Ms');
  if (ms !== -1) return Number(headers[ms + 1]);
  const seconds = headers.indexOf('Retry-After');
  return seconds === -1 ? undefined : 1_000 * Number(headers[seconds + 1]);
}
