/** The faults of the scenarios: what is sent in place of the page that the service made. */
import type { ServerResponse } from 'node:http';
import { errorRecord } from '@partner-network/contract/errors';
import { brandsPerSecond, pageSize } from '@partner-network/contract/limits';
import type { ListingName } from '@partner-network/contract/operations';
import { Refusal, refusal } from '@partner-network/http/refusal';
import { rehearsedOutcomes } from '../receipts.ts';
import { digestOf, type Run, type SentResponse } from './runs.ts';
import { rehearsalsBounds, type ScenarioName } from './scenarios.ts';

/** A page, and the request for it. */
export interface Page extends SentResponse {
  readonly requestId: string;
  readonly listing: ListingName;
  readonly query: string;
  /** The address of the same page at the other origin. */
  readonly watchedUrl: string;
}

/** Undefined if no fault is due. */
type Fault = (page: Page, run: Run) => SentResponse | undefined;

const at =
  (numbers: readonly number[], make: (page: Page) => SentResponse): Fault =>
  (page, { pages }) =>
    numbers.includes(pages) ? make(page) : undefined;

const { unknownCode, noCode } = rehearsedOutcomes;

export const faults: Partial<Record<ScenarioName, Fault>> = {
  'rate-limited': at([2, 4], limited),
  unavailable: at([2, 3], (page) => refused(page, refusal('SERVICE_UNAVAILABLE'))),
  'server-error': at([2], (page) =>
    refused(page, refusal('INTERNAL_SERVER_ERROR', { requestId: page.requestId })),
  ),
  'bad-gateway': at([2], (page) =>
    instead(page, 502, { 'Content-Type': 'text/html' }, '<h1>Bad Gateway</h1>'),
  ),
  torn: at([2], (page) => ({ ...page, cut: 'torn' })),
  stalled: at([2], (page) => ({ ...page, cut: 'stalled', outcome: noCode })),
  'expired-cursor': expiredCursor,
  // A refused key is not counted, so the response has no rate.
  'key-revoked': (page, { pages }) =>
    pages >= 2 ? refused(page, refusal('API_KEY_REVOKED'), common) : undefined,
  'grant-revoked': grantRevoked,
  'unknown-error': at([2], unknownError),
  'new-fields': withNewFields,
  redirect: at([2], (page) => instead(page, 307, { Location: page.watchedUrl })),
};

/** Headers by name, from a list in which names and values alternate. */
export function headersOf(list: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index < list.length; index += 2) headers[list[index]!] = list[index + 1]!;
  return headers;
}

const parameter = (query: string, name: string) => new URLSearchParams(query).get(name) ?? undefined;

/** The cursor of the next page. */
export function nextCursor({ body }: SentResponse): string | undefined {
  return /,"cursor":"([^"]+)"\}$/.exec(body.toString())?.[1];
}

/** The headers of every response, and those of each response to a counted request. */
const common = ['X-Request-Id', 'X-Content-Type-Options'];
const commonAndRate = [...common, 'RateLimit-Policy', 'RateLimit'];

/** The headers of the page with these names. */
function kept({ headers }: Page, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));
}

/** A response that does not come from the catalogue of errors. */
function instead(
  page: Page,
  status: number,
  headers: SentResponse['headers'],
  body = '',
  outcome = noCode,
): SentResponse {
  const others = { 'Cache-Control': 'no-store', 'Content-Length': String(body.length) };
  return { status, headers: { ...kept(page, commonAndRate), ...headers, ...others }, body, outcome };
}

function refused(page: Page, refusal: Refusal, names = commonAndRate): SentResponse {
  const { status, body, code } = refusal;
  const headers = { ...kept(page, names), ...headersOf(refusal.headers) };
  return { status, headers, body, outcome: code };
}

function limited(page: Page): SentResponse {
  const rate = Number(/;q=(\d+)/.exec(page.headers['RateLimit-Policy'] ?? '')?.[1] ?? brandsPerSecond);
  const name = `"${page.listing}"`;
  const rates = ['RateLimit-Policy', `${name};q=${rate};w=1`, 'RateLimit', `${name};r=0;t=1`];
  const waits = ['Retry-After', '1', 'Retry-After-Ms', String(rehearsalsBounds.retryAfterMs)];
  return refused(page, new Refusal([errorRecord('RATE_LIMITED', { rate })], [...rates, ...waits]));
}

/** A request with a cursor gets the cursor of page 3 or further. */
function expiredCursor(page: Page, run: Run): SentResponse | undefined {
  const cursor = parameter(page.query, 'cursor');
  if (cursor === undefined) return undefined;
  const isDue = run.faults === 0 && run.thirdCursor === digestOf(cursor);
  run.thirdCursor = digestOf(nextCursor(page) ?? '');
  return isDue ? refused(page, refusal('INVALID_CURSOR', {}, 'cursor')) : undefined;
}

function grantRevoked(page: Page, { faults }: Run): SentResponse | undefined {
  const isDue = faults > 0 || parameter(page.query, 'cursor') !== undefined;
  if (page.listing !== 'balances' || !isDue) return undefined;
  const field = parameter(page.query, 'grant_id') && 'grant_id';
  return refused(page, refusal('GRANT_REVOKED', {}, field));
}

function unknownError(page: Page): SentResponse {
  const detail = 'Do not send this request again: it would fail in the same way.';
  const error = { category: 'REHEARSAL_ERROR', code: unknownCode, detail };
  const type = { 'Content-Type': 'application/json; charset=utf-8' };
  return instead(page, 400, type, JSON.stringify({ errors: [error] }), unknownCode);
}

function withNewFields({ status, listing, headers, body }: Page): SentResponse {
  const added = { new_field: 'This field does not exist yet.', new_object: { list: [1] }, new_null: null };
  const page = JSON.parse(String(body));
  const records = page[listing].map((record: object) => ({ ...added, ...record }));
  const changed = JSON.stringify({ new_page_field: added, ...page, [listing]: records });
  const changes = { 'Content-Length': String(Buffer.byteLength(changed)), 'X-New-Header': 'new' };
  return { status, headers: { ...headers, ...changes }, body: changed };
}

const limitValue = /(?<=(?:^|&)limit=)(?:[2-9]|[1-9]\d|100)(?=&|$)/;

/** The query of `short-pages`, with half of the limit. A limit of 1, or an invalid one, stays. */
export function shortened(query: string): string {
  if (parameter(query, 'limit') === undefined) return `${query}${query && '&'}limit=${pageSize.default / 2}`;
  return query.replace(limitValue, (limit) => String(Math.floor(Number(limit) / 2)));
}

/**
 * Sends a part of a response. Its connection is closed at once if it is torn, or else after `stallMs` or when
 * the service stops. `isTooLate` says that the client did not close it before `stallMs`.
 */
export function cutOff(
  response: ServerResponse,
  { cut, body }: SentResponse,
  { stallMs, stopping }: { readonly stallMs: number; readonly stopping: AbortSignal },
  onClosed: (isTooLate: boolean) => void,
): void {
  const late = AbortSignal.timeout(stallMs);
  const signal = AbortSignal.any([late, stopping]);
  const close = () => {
    if (response.destroyed) return;
    // First: the client's next request can come before the event `close`.
    onClosed(late.aborted);
    response.destroy();
  };
  response.once('close', () => onClosed(late.aborted));
  signal.addEventListener('abort', close);
  // The server would close a silent connection earlier.
  response.setTimeout(0);
  const bytes = Buffer.from(body as string);
  if (cut === 'torn') response.write(bytes.subarray(0, bytes.length / 2), close);
  else response.flushHeaders();
  if (signal.aborted) close();
}
