/** The faults of the scenarios: what is sent in place of the response that the service made. */
import type { ErrorCode, ErrorRecord } from '@partner-network/contract/errors';
import { errorRecord } from '@partner-network/contract/errors';
import { brandsPerSecond, pageSize } from '@partner-network/contract/limits';
import type { ListingName } from '@partner-network/contract/operations';
import { limiterBounds } from '../bounds/limiter.ts';
import { errorResponse, Refusal, refusal } from '../http/refusal.ts';
import { isPlainInteger } from '../lib/text.ts';
import { rehearsalsBounds } from './bounds.ts';
import type { ScenarioName } from './scenarios.ts';

export interface Response {
  readonly status: number;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  readonly body: string | Buffer | undefined;
}

export interface Fault extends Response {
  /** For the log. */
  readonly name: string;
  /** `torn`: only half of the body is sent. `stalled`: nothing of the body is sent. */
  readonly cut?: 'torn' | 'stalled';
}

/** A request for a page that the service would give. */
export interface PageRequest {
  readonly listing: ListingName;
  readonly query: URLSearchParams;
  /** Counts such requests of the run. */
  readonly number: number;
  /** The page that its cursor leads to. From 3 on, pages are not counted. */
  readonly page: number;
  /** Faults of the run so far. */
  readonly faults: number;
  /** The address of the same page at the other origin. */
  readonly watchedUrl: () => Promise<string>;
  readonly response: Response;
}

/** The fault of each scenario, or undefined where the page is sent as it is. */
export const faultOf: Readonly<
  Record<ScenarioName, (request: PageRequest) => Fault | undefined | Promise<Fault | undefined>>
> = {
  steady: () => undefined,
  'rate-limited': (request) => (request.number === 2 || request.number === 4 ? limited(request) : undefined),
  unavailable: (request) =>
    request.number === 2 || request.number === 3 ? refused(request, 'SERVICE_UNAVAILABLE') : undefined,
  'server-error': (request) =>
    request.number === 2
      ? refused(request, 'INTERNAL_SERVER_ERROR', { requestId: request.response.headers[1]! })
      : undefined,
  'bad-gateway': (request) => (request.number === 2 ? badGateway(request) : undefined),
  torn: ({ number, response }) => (number === 2 ? { ...response, name: 'torn', cut: 'torn' } : undefined),
  stalled: ({ number, response }) =>
    number === 2 ? { ...response, name: 'stalled', cut: 'stalled' } : undefined,
  'expired-cursor': (request) =>
    request.page === 3 && request.faults === 0 ? refused(request, 'INVALID_CURSOR', {}, 'cursor') : undefined,
  'key-revoked': (request) => (request.number >= 2 ? refused(request, 'API_KEY_REVOKED') : undefined),
  'grant-revoked': (request) => {
    if (request.listing !== 'balances' || (request.page === 1 && request.faults === 0)) return undefined;
    return refused(request, 'GRANT_REVOKED', {}, request.query.has('grant_id') ? 'grant_id' : undefined);
  },
  'unknown-error': (request) => (request.number === 2 ? unknownError(request) : undefined),
  'new-fields': withNewFields,
  'short-pages': () => undefined,
  redirect: async (request) => {
    if (request.number !== 2) return undefined;
    const headers = ['Location', await request.watchedUrl(), 'Content-Length', '0'];
    return { name: 'redirect', status: 307, headers: [...kept(request), ...headers], body: undefined };
  },
};

const ofBody = ['Content-Type', 'Cache-Control', 'Content-Length'];
const ofRate = ['RateLimit-Policy', 'RateLimit'];

/** The headers of the response that do not depend on its status and body. */
function kept({ response: { headers } }: PageRequest, without: readonly string[] = ofBody): string[] {
  const isKept = (index: number) => !without.includes(headers[index - (index % 2)]!);
  return headers.filter((_, index) => isKept(index));
}

function refused(
  request: PageRequest,
  code: ErrorCode,
  facts?: Readonly<Record<string, string | number>>,
  field?: string,
): Fault {
  // A refused key is not counted, so its response has no rate.
  const common = kept(request, code === 'API_KEY_REVOKED' ? [...ofBody, ...ofRate] : ofBody);
  return faultOfRefusal(common, refusal(code, facts, field));
}

function faultOfRefusal(common: readonly string[], refusal: Refusal): Fault {
  const { headers, body } = errorResponse(refusal);
  return {
    name: refusal.errors[0].code,
    status: refusal.status,
    headers: [...common, ...headers],
    body,
  };
}

function limited(request: PageRequest): Fault {
  const { headers } = request.response;
  const policy = headers[headers.indexOf('RateLimit-Policy') + 1] ?? '';
  const rate = Number(/;q=(\d+)/.exec(policy)?.[1] ?? brandsPerSecond);
  const windowSeconds = limiterBounds.rateWindowMs / 1_000;
  const seconds = Math.ceil(rehearsalsBounds.retryAfterMs / 1_000);
  const limits = ['RateLimit-Policy', `"${request.listing}";q=${rate};w=${windowSeconds}`];
  limits.push('RateLimit', `"${request.listing}";r=0;t=${seconds}`);
  const retry = ['Retry-After', String(seconds), 'Retry-After-Ms', String(rehearsalsBounds.retryAfterMs)];
  const common = [...kept(request, [...ofBody, ...ofRate]), ...limits];
  return faultOfRefusal(common, new Refusal([errorRecord('RATE_LIMITED', { rate })], retry));
}

const badGatewayPage =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n' +
  '<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n';

function badGateway(request: PageRequest): Fault {
  const headers = ['Content-Type', 'text/html', 'Content-Length', String(badGatewayPage.length)];
  return { name: 'BAD_GATEWAY', status: 502, headers: [...kept(request), ...headers], body: badGatewayPage };
}

function unknownError(request: PageRequest): Fault {
  const error = {
    category: 'REHEARSAL_ERROR',
    code: 'REHEARSED_UNKNOWN_CODE',
    detail: 'Do not send this request again: it would fail in the same way.',
  };
  // The types know only errors that exist.
  const errors = [error as unknown as ErrorRecord] as const;
  const { headers, body } = errorResponse({ status: 400, errors, headers: [] });
  return { name: error.code, status: 400, headers: [...kept(request), ...headers], body };
}

const newFields = {
  new_field: 'A field that does not exist yet.',
  new_object: { list: [1, null], ok: true },
};

function withNewFields(request: PageRequest): Fault {
  const { listing, response } = request;
  const page = JSON.parse(String(response.body));
  const records = page[listing].map((record: object) => ({ ...newFields, ...record, new_null: null }));
  const body = JSON.stringify({ new_page_field: newFields.new_object, ...page, [listing]: records });
  const headers = [...kept(request, ['Content-Length']), 'X-New-Header', 'A header that does not exist yet'];
  headers.push('Content-Length', String(Buffer.byteLength(body)));
  return { name: 'new-fields', status: 200, headers, body };
}

/** The query of `short-pages`: the page has half of the records that the client asked for. */
export function shortened(query: string): string {
  const limits = new URLSearchParams(query).getAll('limit');
  const limit = limits[0] ?? String(pageSize.default);
  const isValid = isPlainInteger(limit) && Number(limit) > pageSize.min && Number(limit) <= pageSize.max;
  if (limits.length > 1 || !isValid) return query;
  const short = `limit=${Math.floor(Number(limit) / 2)}`;
  if (limits.length === 1) return query.replace(/(?<=^|&)limit=\d+(?=&|$)/, short);
  return query === '' ? short : `${query}&${short}`;
}

/** Milliseconds that a response asks the client to wait. */
export function waitOf({ headers }: Response): number | undefined {
  const numberOf = (name: string) => {
    const index = headers.indexOf(name);
    return index === -1 ? undefined : Number(headers[index + 1]);
  };
  const seconds = numberOf('Retry-After');
  return numberOf('Retry-After-Ms') ?? (seconds === undefined ? undefined : seconds * 1_000);
}
