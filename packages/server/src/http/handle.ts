import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { allowedMethods } from '@partner-network/contract/operations';
import type { Logger } from 'pino';
import { httpBounds } from '../bounds/http.ts';
import { within } from '../lib/timeout.ts';
import { StoreUnavailable } from '../store/port.ts';
import { headBytes } from './headers.ts';
import { Refusal, refusal } from './refusal.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { splitTarget } from './target.ts';
import { isWellFormed } from './well-formed.ts';

/** One request on its way through: what is known of it so far, and the headers of its answer. */
export interface Exchange {
  readonly requestId: string;
  /** When it came, though it may have waited for its turn since. */
  readonly startedMs: number;
  readonly method: string;
  readonly rawHeaders: readonly string[];
  readonly query: string;
  /** Names and values in turn. */
  readonly headers: string[];
  operation?: string;
  /** Who asks, also where it is refused: none of both while no key on file is known. */
  partnerId?: string;
  keyId?: string;
  /** Whether the body is known to be ASCII: to find that out copies all of it, an eighth of a page's cost. */
  isAscii?: boolean;
  /** Called when the answer is given, with the code of its first error if it is a refusal. */
  settle?: (code: string | undefined) => void;
  /** Where the request is traced: by what its trace is found, and what ends it. */
  trace?: { readonly id: string; end(status: number, code: string | undefined): void };
  /** Where answers are counted; the operators' own are not. */
  readonly count?: RequestMetrics['count'] | undefined;
}

/** What answers a path: a body, or a refusal thrown. */
export type Route = (exchange: Exchange) => Promise<string | Buffer>;

export type Routes = ReadonlyMap<string, Route>;

/** In the place of a path: the route of all that have none. */
export const anyOtherPath = '*';

/**
 * Gives a request exactly one answer, whatever happens on the way. Resolves to how much text was made for it,
 * which is kept until the caller has read it; the bytes of a file are there anyway.
 */
export async function answer(
  routes: Routes,
  log: Logger,
  request: IncomingMessage,
  response: ServerResponse,
  startedMs: number,
  requests?: RequestMetrics,
): Promise<number> {
  const { path, query } = splitTarget(request.url ?? '');
  const requestId = randomUUID();
  const exchange: Exchange = {
    requestId,
    startedMs,
    method: request.method ?? '',
    rawHeaders: request.rawHeaders,
    query,
    headers: ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'],
    count: requests?.count,
  };
  try {
    requireWellFormed(request);
    const route = routeOf(routes, path, request.method ?? '');
    if (request.method === 'OPTIONS') {
      exchange.headers.push('Allow', allowedMethods.join(', '));
      return send(log, exchange, response, 204);
    }
    // Whatever a request waits for, its caller is answered in time.
    // Whole milliseconds, because Node keeps a list of timers for each duration that there is.
    const leftMs = Math.max(1, Math.ceil(startedMs + httpBounds.answerMs - performance.now()));
    return send(log, exchange, response, 200, await within(leftMs, route(exchange), late));
  } catch (thrown) {
    const refused = thrown instanceof Refusal ? thrown : refusalOfFault(log, exchange, thrown);
    exchange.headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
    exchange.headers.push(...refused.headers);
    exchange.isAscii = false;
    const body = JSON.stringify({ errors: refused.errors });
    return send(log, exchange, response, refused.status, body, refused.errors[0]?.code);
  }
}

const late = () => new StoreUnavailable('It took too long.');

function requireWellFormed(request: IncomingMessage): void {
  // Node counts names and values only, and lets many small headers through.
  if (headBytes(request) > httpBounds.requestHeadBytes) throw refusal('REQUEST_TOO_LARGE');
  if (!isWellFormed(request)) throw refusal('MALFORMED_REQUEST');
}

/** The path is judged before the method, so that an unknown path says nothing of methods. */
function routeOf(routes: Routes, path: string, method: string): Route {
  const route = routes.get(path) ?? routes.get(anyOtherPath);
  if (route === undefined) throw refusal('NOT_FOUND');
  if (!allowedMethods.includes(method)) throw refusal('METHOD_NOT_ALLOWED');
  return route;
}

/** The log gets the fault, the caller the request id to ask about it. */
function refusalOfFault(log: Logger, { requestId }: Exchange, fault: unknown): Refusal {
  log.error({ request_id: requestId, err: fault }, 'request failed');
  return fault instanceof StoreUnavailable
    ? refusal('SERVICE_UNAVAILABLE')
    : refusal('INTERNAL_SERVER_ERROR', { requestId });
}

function send(
  log: Logger,
  exchange: Exchange,
  response: ServerResponse,
  status: number,
  body?: string | Buffer,
  code?: string,
): number {
  const { headers, isAscii = false } = exchange;
  if (body !== undefined)
    headers.push('Content-Length', String(isAscii ? body.length : Buffer.byteLength(body)));
  response.writeHead(status, headers);
  // ASCII needs no encoding.
  response.end(body, isAscii ? 'latin1' : 'utf8');
  try {
    tell(log, exchange, status, code);
  } catch (err) {
    // It is answered, and cannot be answered again.
    log.error({ request_id: exchange.requestId, err }, 'an answer was given; its receipt may be missing');
  }
  return typeof body === 'string' ? body.length : 0;
}

/** All who want to know of an answer that was given. */
function tell(log: Logger, exchange: Exchange, status: number, code: string | undefined): void {
  exchange.settle?.(code);
  exchange.trace?.end(status, code);
  const durationMs = performance.now() - exchange.startedMs;
  exchange.count?.(exchange.operation, status, code, durationMs / 1_000);
  log.info(
    {
      request_id: exchange.requestId,
      trace_id: exchange.trace?.id,
      operation: exchange.operation,
      partner_id: exchange.partnerId,
      key_id: exchange.keyId,
      status,
      code,
      duration_ms: Math.round(durationMs * 1_000) / 1_000,
    },
    'request',
  );
}
