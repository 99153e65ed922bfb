/** The faults of the scenarios: what is sent in place of the page that the service made. */
import { errorRecord } from '@partner-network/contract/errors';
import { brandsPerSecond, pageSize } from '@partner-network/contract/limits';
import type { ListingName } from '@partner-network/contract/operations';
import { Refusal, refusal } from '@partner-network/http/refusal';
import { rehearsalsBounds } from './bounds.ts';
import { digestOf, type Response, type Run } from './runs.ts';
import { rehearsedOutcomes, type ScenarioName } from './scenarios.ts';

/** A page, and the request for it. */
export interface Page extends Response {
  readonly listing: ListingName;
  readonly query: string;
  /** The address of the same page at the other origin. */
  readonly watchedUrl: string;
}

/** Undefined if no fault is due. */
type Fault = (page: Page, run: Run) => Response | undefined;

const at =
  (numbers: readonly number[], make: (page: Page) => Response): Fault =>
  (page, { pages }) =>
    numbers.includes(pages) ? make(page) : undefined;

const { unknownCode, noCode } = rehearsedOutcomes;

export const faults: Partial<Record<ScenarioName, Fault>> = {
  'rate-limited': at([2, 4], limited),
  unavailable: at([2, 3], (page) => refused(page, refusal('SERVICE_UNAVAILABLE'))),
  'server-error': at([2], (page) =>
    refused(page, refusal('INTERNAL_SERVER_ERROR', { requestId: page.headers[1]! })),
  ),
  'bad-gateway': at([2], (page) => instead(page, 502, ['Content-Type', 'text/html'], '<h1>Bad Gateway</h1>')),
  torn: at([2], (page) => ({ ...page, cut: 'torn' })),
  stalled: at([2], (page) => ({ ...page, cut: 'stalled', outcome: noCode })),
  'expired-cursor': expiredCursor,
  // A refused key is not counted, so the response has no rate.
  'key-revoked': (page, { pages }) =>
    pages >= 2 ? refused(page, refusal('API_KEY_REVOKED'), common(page)) : undefined,
  'grant-revoked': grantRevoked,
  'unknown-error': at([2], unknownError),
  'new-fields': withNewFields,
  redirect: at([2], (page) => instead(page, 307, ['Location', page.watchedUrl])),
};

const parameter = (query: string, name: string) => new URLSearchParams(query).get(name) ?? undefined;

/** The cursor of the next page. */
export function nextCursor({ body }: Response): string | undefined {
  return /,"cursor":"([^"]+)"\}$/.exec(body.toString())?.[1];
}

/** The first headers of every response. The headers with the rate come next. */
const common = ({ headers }: Page) => headers.slice(0, 4);
const commonAndRate = ({ headers }: Page) => headers.slice(0, headers.indexOf('Content-Type'));

/** A response that does not come from the catalogue of errors. */
function instead(
  page: Page,
  status: number,
  headers: readonly string[],
  body = '',
  outcome = noCode,
): Response {
  const others = ['Cache-Control', 'no-store', 'Content-Length', String(body.length)];
  return { status, headers: [...commonAndRate(page), ...headers, ...others], body, outcome };
}

function refused(page: Page, refusal: Refusal, first = commonAndRate(page)): Response {
  const { status, headers, body, errors } = refusal;
  return { status, headers: [...first, ...headers], body, outcome: errors[0].code };
}

function limited(page: Page): Response {
  const rate = Number(/;q=(\d+)/.exec(page.headers.join())?.[1] ?? brandsPerSecond);
  const name = `"${page.listing}"`;
  const rates = ['RateLimit-Policy', `${name};q=${rate};w=1`, 'RateLimit', `${name};r=0;t=1`];
  const waits = ['Retry-After', '1', 'Retry-After-Ms', String(rehearsalsBounds.retryAfterMs)];
  const refusal = new Refusal([errorRecord('RATE_LIMITED', { rate })], waits);
  return refused(page, refusal, [...common(page), ...rates]);
}

/** A request with a cursor gets the cursor of page 3 or further. */
function expiredCursor(page: Page, run: Run): Response | undefined {
  const cursor = parameter(page.query, 'cursor');
  if (cursor === undefined) return undefined;
  const isDue = run.faults === 0 && run.thirdCursor === digestOf(cursor);
  run.thirdCursor = digestOf(nextCursor(page) ?? '');
  return isDue ? refused(page, refusal('INVALID_CURSOR', {}, 'cursor')) : undefined;
}

function grantRevoked(page: Page, { faults }: Run): Response | undefined {
  const isDue = faults > 0 || parameter(page.query, 'cursor') !== undefined;
  if (page.listing !== 'balances' || !isDue) return undefined;
  const field = parameter(page.query, 'grant_id') && 'grant_id';
  return refused(page, refusal('GRANT_REVOKED', {}, field));
}

function unknownError(page: Page): Response {
  const detail = 'Do not send this request again: it would fail in the same way.';
  const error = { category: 'REHEARSAL_ERROR', code: unknownCode, detail };
  const type = ['Content-Type', 'application/json; charset=utf-8'];
  return instead(page, 400, type, JSON.stringify({ errors: [error] }), unknownCode);
}

function withNewFields({ status, listing, headers, body }: Page): Response {
  const added = { new_field: 'This field does not exist yet.', new_object: { list: [1] }, new_null: null };
  const page = JSON.parse(String(body));
  const records = page[listing].map((record: object) => ({ ...added, ...record }));
  const changed = JSON.stringify({ new_page_field: added, ...page, [listing]: records });
  const others = headers.slice(0, headers.indexOf('Content-Length'));
  const length = ['Content-Length', String(Buffer.byteLength(changed))];
  return { status, headers: [...others, ...length, 'X-New-Header', 'new'], body: changed };
}

const limitValue = /(?<=(?:^|&)limit=)(?:[2-9]|[1-9]\d|100)(?=&|$)/;

/** The query of `short-pages`, with half of the limit. A limit of 1, or an invalid one, stays. */
export function shortened(query: string): string {
  if (parameter(query, 'limit') === undefined) return `${query}${query && '&'}limit=${pageSize.default / 2}`;
  return query.replace(limitValue, (limit) => String(Math.floor(Number(limit) / 2)));
}
