import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { httpBounds } from '@partner-network/common/bounds/http';
import { Unavailable } from '@partner-network/common/errors';
import { outageOf } from '@partner-network/common/observability/log';
import { within } from '@partner-network/common/timeout';
import { errorRecord } from '@partner-network/contract/errors';
import { allowedMethods } from '@partner-network/contract/operations';
import type { Logger } from 'pino';
import { Refusal, refusal } from './refusal.ts';
import {
  commonHeaders,
  headerValues,
  isWellFormed,
  isWithinBounds,
  newRequestId,
  type RequestHead,
  splitTarget,
} from './request.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** A request with its response, and what is known about both so far. */
export interface Exchange {
  readonly requestId: string;
  /** When the request arrived. It may have waited in the overload queue since. */
  readonly startedMs: number;
  readonly method: string;
  readonly rawHeaders: readonly string[];
  readonly query: string;
  /** The request and its response, for a route that reads a body. */
  readonly request: RequestHead;
  readonly response: ServerResponse | undefined;
  route?: Route;
  operation?: string;
  /** Set once the key is found, even if the request is then refused. */
  key?: { readonly id: string; readonly partnerId?: string };
  /** The customer whose records are in the response, and the grant that opened them. */
  access?: Access;
  /** Requests of the partner that were admitted in the second that ended with this one. */
  admitted?: number;
  /** Set for a traced request. */
  trace?: { readonly id: string; end(status: number, code: string | undefined): void };
  status: number;
  /** Headers of the response: names and values alternate. */
  readonly headers: string[];
  body?: string | Buffer;
  /** The parts of a body that is too long for memory. They are sent as the client reads them. */
  stream?: AsyncIterable<string>;
  /** Whether the body is known to be ASCII. Finding out would copy it, which costs an eighth of a page. */
  isAscii?: boolean;
  /** The code of the first error in the response. */
  code?: string;
}

/** A customer and a grant, as far as they are known. */
export interface Access {
  readonly customerId?: string | undefined;
  readonly grantId?: string | undefined;
}

/** Answers the requests for one path. */
export interface Route {
  /** The methods that it answers, besides OPTIONS. GET and HEAD if absent. */
  readonly methods?: readonly string[];
  /** Milliseconds until it must have answered a request of this method, if not the usual ones. */
  answerMs?(method: string): number;
  /** Returns a body, or throws a refusal. */
  answer(exchange: Exchange): Promise<string | Buffer>;
  /** Called after the response was sent. The outcome is its code, or what a rehearsal sent in its place. */
  sent?: ((exchange: Exchange, outcome: string | undefined) => void) | undefined;
}

/** Finds the route of a path. */
export type Routes = Pick<ReadonlyMap<string, Route>, 'get'>;

/** An address of the service: what answers there, and where its responses are logged and counted. */
export interface Site {
  readonly routes: Routes;
  readonly log: Logger;
  /** Not set for operators, whose requests are not counted. */
  readonly requests?: RequestMetrics;
  /** The response to a path without a route. */
  readonly notFound?: Refusal;
  /** The page and its headers in place of an error about the address, for browsers. */
  readonly refusalPage?: (refused: Refusal, path: string) => Promise<readonly [string, readonly string[]]>;
  /** Called with each response that is an error, except for shed requests. */
  readonly onRefusal?: ((refused: RefusedRequest) => void) | undefined;
  /** Answers in place of `answer`, if something is wrapped around the site. */
  readonly answer?: Answer;
}

/** What is known of a request that got an error: neither method nor target if it was not well-formed. */
export interface RefusedRequest {
  readonly requestId: string;
  readonly status: number;
  readonly code: string;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

/** Sends one response, and resolves to the number of characters that stay in memory until it is read. */
export type Answer = (
  site: Site,
  request: IncomingMessage,
  response: ServerResponse,
  startedMs: number,
) => Promise<number>;

export async function answer(
  site: Site,
  request: RequestHead,
  response: ServerResponse,
  startedMs: number,
): Promise<number> {
  const exchange = await respond(site, request, startedMs, response);
  const { status, headers, body, isAscii, stream, code } = exchange;
  response.writeHead(status, headers);
  if (stream !== undefined && code === undefined && request.method !== 'HEAD')
    await sendStream(site, exchange, stream, response);
  // ASCII needs no encoding.
  else response.end(body, isAscii === true ? 'latin1' : 'utf8');
  finish(site, exchange);
  // Files are in memory anyway.
  return typeof body === 'string' ? body.length : 0;
}

/**
 * Sends each part when the client has read the previous one, which may take long. A failure in the middle, or
 * a client that stops reading, resets the connection: an ordinary end of it would look like the end of the
 * body to a client of HTTP/1.0.
 */
async function sendStream(
  site: Site,
  exchange: Exchange,
  parts: AsyncIterable<string>,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  response.once('timeout', (socket: Socket) => socket.resetAndDestroy());
  try {
    for await (const part of parts) {
      // The client has left.
      if (response.destroyed) return;
      if (!response.write(part)) await once(response, 'drain', { signal: gone.signal });
    }
    response.end();
  } catch (thrown) {
    if (response.destroyed) return;
    exchange.code = refusedOf(site, exchange.requestId, thrown).code;
    response.socket?.resetAndDestroy();
  }
}

/** Makes the one response to a request, whatever happens. The caller sends it, and then calls `finish`. */
export async function respond(
  site: Site,
  request: RequestHead,
  startedMs: number,
  response?: ServerResponse,
): Promise<Exchange> {
  const { url = '', method = '', rawHeaders } = request;
  const { path, query } = splitTarget(url);
  const requestId = newRequestId();
  const headers = commonHeaders(requestId);
  const exchange: Exchange = {
    requestId,
    startedMs,
    method,
    rawHeaders,
    query,
    request,
    response,
    headers,
    status: 200,
  };
  try {
    const route = routeOf(site, path, request);
    exchange.route = route;
    if (method === 'OPTIONS') {
      headers.push('Allow', methodsOf(route).join(', '));
      exchange.status = 204;
      return exchange;
    }
    const answerMs = route.answerMs?.(method) ?? httpBounds.answerMs;
    // Whole milliseconds, because Node keeps one list of timers for each duration.
    const leftMs = Math.max(1, Math.ceil(startedMs + answerMs - performance.now()));
    const body = await within(leftMs, route.answer(exchange), late);
    const bytes = exchange.isAscii === true ? body.length : Buffer.byteLength(body);
    if (exchange.stream === undefined) headers.push('Content-Length', String(bytes));
    exchange.body = body;
  } catch (thrown) {
    const refused = refusedOf(site, requestId, thrown);
    const page = await pageOf(site, path, rawHeaders, refused);
    headers.push(...page.headers);
    exchange.status = refused.status;
    exchange.body = page.body;
    exchange.isAscii = false;
    exchange.code = refused.code;
  }
  return exchange;
}

/**
 * An API answers with JSON, because Java's HttpURLConnection accepts HTML unless its program says otherwise.
 * So does a long path: each link of a page repeats `../` for each slash.
 */
const isOfPages = (path: string) => !path.includes('/v1/') && path.length <= 100;

/**
 * The page in place of an error about the address, or Markdown if the address is. Programs get JSON, and
 * browsers, too, if the page fails.
 */
async function pageOf({ refusalPage }: Site, path: string, rawHeaders: readonly string[], refused: Refusal) {
  const isAboutAddress = (refused.status === 404 || refused.status === 405) && isOfPages(path);
  if (refusalPage === undefined || !isAboutAddress) return refused;
  const isWanted = acceptsHtml(rawHeaders) || path.endsWith('.md');
  const made = isWanted && (await refusalPage(refused, path).catch(() => undefined));
  return made ? refused.as(...made) : { ...refused, headers: [...refused.headers, 'Vary', 'Accept'] };
}

/** Also if it prefers something else: only `q=0` refuses HTML. */
export function acceptsHtml(rawHeaders: readonly string[]): boolean {
  const offers = headerValues(rawHeaders, 'accept').join().split(',');
  return offers.some((offer) => /^\s*text\/html\s*(;|$)/.test(offer) && !/;\s*q=0(\.0*)?\s*$/.test(offer));
}

function refusedOf({ log }: Site, requestId: string, thrown: unknown): Refusal {
  return thrown instanceof Refusal ? thrown : refusalOfFailure(log, requestId, thrown);
}

const late = () => new Unavailable('The request took too long.');

/** The path is checked before the method, so that the answer to an unknown path says nothing of methods. */
function routeOf({ routes, notFound }: Site, path: string, request: RequestHead): Route {
  if (!isWithinBounds(request)) throw refusal('REQUEST_TOO_LARGE');
  if (!isWellFormed(request)) throw refusal('MALFORMED_REQUEST');
  const route = routes.get(path);
  if (route === undefined) throw notFound ?? refusal('NOT_FOUND');
  if (!methodsOf(route).includes(request.method ?? '')) throw methodNotAllowed(route);
  return route;
}

export function methodsOf({ methods }: Route): readonly string[] {
  return methods === undefined ? allowedMethods : [...methods, 'OPTIONS'];
}

export function methodNotAllowed(route: Route): Refusal {
  if (route.methods === undefined) return refusal('METHOD_NOT_ALLOWED');
  const usual = route.methods.filter((method) => method !== 'HEAD').join(' or ');
  const record = { ...errorRecord('METHOD_NOT_ALLOWED'), detail: `Use ${usual} for this path.` };
  return new Refusal([record], ['Allow', methodsOf(route).join(', ')]);
}

/** Logs the failure. The client gets the request id only, to report it with. */
export function refusalOfFailure(log: Logger, requestId: string, err: unknown): Refusal {
  const write = () => log.error({ request_id: requestId, err }, 'request failed');
  if (err instanceof Unavailable) outageOf(log).failed(write, err.message);
  else write();
  return err instanceof Unavailable
    ? refusal('SERVICE_UNAVAILABLE')
    : refusal('INTERNAL_SERVER_ERROR', { requestId });
}

/** Passes a sent response to its receipt, trace, metrics and log. */
export function finish(site: Site, exchange: Exchange, outcome = exchange.code): void {
  const { log, requests, onRefusal } = site;
  const { requestId, request, route, operation, key, trace, status, code } = exchange;
  try {
    route?.sent?.(exchange, outcome);
    trace?.end(status, code);
    const durationMs = performance.now() - exchange.startedMs;
    requests?.count(operation, status, code, durationMs / 1_000);
    const fields = {
      request_id: requestId,
      trace_id: trace?.id,
      operation,
      partner_id: key?.partnerId,
      key_id: key?.id,
      status,
      code,
      duration_ms: Math.round(durationMs * 1_000) / 1_000,
    };
    log.info(fields, 'request');
    const { method, url } = request;
    if (outcome !== undefined) onRefusal?.({ requestId, status, code: outcome, method, url });
  } catch (err) {
    // The response is sent: a failure from here on can only be logged.
    log.error({ request_id: requestId, err }, 'a response was sent, but its receipt may be missing');
  }
}
