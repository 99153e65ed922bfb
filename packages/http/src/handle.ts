import { httpBounds } from '@partner-network/common/bounds/http';
import { logRequest } from '@partner-network/common/observability/log';
import { within } from '@partner-network/common/timeout';
import { Unavailable } from '@partner-network/common/unavailable';
import { allowedMethods } from '@partner-network/contract/operations';
import type { Logger } from 'pino';
import { commonHeaders, Refusal, refusal } from './refusal.ts';
import { isWellFormed, isWithinBounds, newRequestId, type RequestHead, splitTarget } from './request.ts';
import type { RequestMetrics } from './request-metrics.ts';

/** A request and what is known about it so far, with the headers of its response. */
export interface Exchange {
  readonly requestId: string;
  /** When the request arrived. It may have waited in the overload queue since. */
  readonly startedMs: number;
  readonly method: string;
  readonly rawHeaders: readonly string[];
  readonly query: string;
  /** Headers of the response: names and values alternate. */
  readonly headers: string[];
  operation?: string;
  /** Partner and key are set once the key is found, even if the request is then refused. */
  partnerId?: string;
  keyId?: string;
  /** Whether the body is known to be ASCII. Finding out would copy it, which costs an eighth of a page. */
  isAscii?: boolean;
  /** Called after the response was sent, with the code of its first error or the outcome of a rehearsal. */
  onAnswered?: (code: string | undefined) => void;
  /** Set for a traced request. */
  trace?: { readonly id: string; end(status: number, code: string | undefined): void };
  /** Counts the response. Not set for requests of operators. */
  readonly count?: RequestMetrics['count'] | undefined;
}

/** Answers the requests for one path: returns a body, or throws a refusal. */
export type Route = (exchange: Exchange) => Promise<string | Buffer>;

export type Routes = ReadonlyMap<string, Route>;

/** Key of the route for all paths that have no route of their own. */
export const anyOtherPath = '*';

/** The part of a response that is used to send it. A rehearsal takes its place to change the response. */
export interface ResponseHead {
  writeHead(status: number, headers: string[]): unknown;
  end(body: string | Buffer | undefined, encoding: BufferEncoding): unknown;
  /** The outcome for the receipt, if a rehearsal sends something else than the response. Set by `end`. */
  readonly outcome?: string | undefined;
}

/**
 * Sends exactly one response to a request, whatever happens. Resolves to the length of the text that was made
 * for it and stays in memory until the client has read it. Files are in memory anyway and count as 0.
 */
export async function answer(
  routes: Routes,
  log: Logger,
  request: RequestHead,
  response: ResponseHead,
  startedMs: number,
  requests?: RequestMetrics,
): Promise<number> {
  const { path, query } = splitTarget(request.url ?? '');
  const requestId = newRequestId();
  const exchange: Exchange = {
    requestId,
    startedMs,
    method: request.method ?? '',
    rawHeaders: request.rawHeaders,
    query,
    headers: commonHeaders(requestId),
    count: requests?.count,
  };
  try {
    const route = routeOf(routes, path, request);
    if (request.method === 'OPTIONS') {
      exchange.headers.push('Allow', allowedMethods.join(', '));
      return send(log, exchange, response, 204);
    }
    // Whole milliseconds, because Node keeps one list of timers for each duration.
    const leftMs = Math.max(1, Math.ceil(startedMs + httpBounds.answerMs - performance.now()));
    const body = await within(leftMs, route(exchange), late);
    const bytes = exchange.isAscii === true ? body.length : Buffer.byteLength(body);
    exchange.headers.push('Content-Length', String(bytes));
    return send(log, exchange, response, 200, body);
  } catch (thrown) {
    const refused = thrown instanceof Refusal ? thrown : refusalOfFault(log, exchange, thrown);
    const { status, headers, body, errors } = refused;
    exchange.headers.push(...headers);
    exchange.isAscii = false;
    return send(log, exchange, response, status, body, errors[0].code);
  }
}

const late = () => new Unavailable('The request took too long.');

/** The path is checked before the method, so that the answer to an unknown path says nothing of methods. */
function routeOf(routes: Routes, path: string, request: RequestHead): Route {
  if (!isWithinBounds(request)) throw refusal('REQUEST_TOO_LARGE');
  if (!isWellFormed(request)) throw refusal('MALFORMED_REQUEST');
  const route = routes.get(path) ?? routes.get(anyOtherPath);
  if (route === undefined) throw refusal('NOT_FOUND');
  if (!allowedMethods.includes(request.method ?? '')) throw refusal('METHOD_NOT_ALLOWED');
  return route;
}

/** Logs the fault. The client gets the request id only, to report it with. */
function refusalOfFault(log: Logger, { requestId }: Exchange, fault: unknown): Refusal {
  log.error({ request_id: requestId, err: fault }, 'request failed');
  return fault instanceof Unavailable
    ? refusal('SERVICE_UNAVAILABLE')
    : refusal('INTERNAL_SERVER_ERROR', { requestId });
}

function send(
  log: Logger,
  exchange: Exchange,
  response: ResponseHead,
  status: number,
  body?: string | Buffer,
  code?: string,
): number {
  response.writeHead(status, exchange.headers);
  // ASCII needs no encoding.
  response.end(body, exchange.isAscii === true ? 'latin1' : 'utf8');
  try {
    exchange.onAnswered?.(response.outcome ?? code);
    report(log, exchange, status, code);
  } catch (err) {
    // The response is sent: a fault from here on can only be logged.
    log.error({ request_id: exchange.requestId, err }, 'a response was sent, but its receipt may be missing');
  }
  return typeof body === 'string' ? body.length : 0;
}

/** Passes a sent response to the trace, the metrics and the log. */
function report(log: Logger, exchange: Exchange, status: number, code: string | undefined): void {
  exchange.trace?.end(status, code);
  const durationMs = performance.now() - exchange.startedMs;
  exchange.count?.(exchange.operation, status, code, durationMs / 1_000);
  logRequest(log, {
    request_id: exchange.requestId,
    trace_id: exchange.trace?.id,
    operation: exchange.operation,
    partner_id: exchange.partnerId,
    key_id: exchange.keyId,
    status,
    code,
    duration_ms: Math.round(durationMs * 1_000) / 1_000,
  });
}
