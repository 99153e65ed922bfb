import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { allowedMethods, type Operation } from '@partner-network/contract/operations';
import type { Environment } from '@partner-network/contract/scopes';
import type { Logger } from 'pino';
import { bounds } from './bounds.ts';
import { authenticate } from './http/authenticate.ts';
import { requireScope } from './http/authorize.ts';
import type { Cursors } from './http/cursor.ts';
import { headBytes, headerValues } from './http/headers.ts';
import { parseParameters } from './http/parameters.ts';
import { admit } from './http/rate-limit.ts';
import { Refusal, refusal } from './http/refusal.ts';
import { splitTarget } from './http/target.ts';
import type { Limiter } from './limiter/port.ts';
import { balances } from './listings/balances.ts';
import { brands } from './listings/brands.ts';
import type { Listing } from './listings/listing.ts';
import { type Reads, StoreUnavailable } from './store/port.ts';

/** What the service is made of. It is built apart from listening, so that tests build the same one. */
export interface Service {
  readonly environment: Environment;
  readonly store: Reads;
  readonly cursors: Cursors;
  /** A listing without a limiter is not limited. */
  readonly limiters: Readonly<Partial<Record<Operation['name'], Limiter>>>;
  readonly publicUrl: string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** One request on its way through: what is known of it so far, and the headers of its answer. */
interface Exchange {
  readonly requestId: string;
  readonly startedMs: number;
  readonly rawHeaders: readonly string[];
  readonly query: string;
  /** Names and values in turn. */
  readonly headers: string[];
  operation?: string;
  partnerId?: string;
}

type Route = (exchange: Exchange) => Promise<string | Buffer>;

const placeholderImage = readFileSync(new URL('../assets/brand-placeholder.png', import.meta.url));

export function createApp(service: Service): RequestListener {
  const routes = new Map<string, Route>([
    [brands.operation.path, listingRoute(service, brands)],
    [balances.operation.path, listingRoute(service, balances)],
    ['/assets/brand-placeholder.png', imageRoute],
  ]);

  return (request, response) => {
    void answer(service, routes, request, response);
  };
}

/** The way of every listing request, top to bottom: who, may they, how often, what, and the page. */
function listingRoute<O extends Operation>(service: Service, listing: Listing<O>): Route {
  const { environment, store, cursors, limiters, nowMs } = service;
  const { operation } = listing;
  const limiter = limiters[operation.name];
  const publicAddress = JSON.stringify(service.publicUrl).slice(1, -1);
  const sources = { store, publicAddress, nowMs };

  return async (exchange) => {
    exchange.operation = operation.id;
    const key = await authenticate(exchange.rawHeaders, store, environment, nowMs());
    exchange.partnerId = key.partnerId;
    requireScope(key, operation.scope);
    await admit(limiter, operation.name, key.partnerId, exchange.headers);

    const parameters = parseParameters(operation, exchange.query);
    const filters = listing.filters(parameters);
    const scope = { endpoint: operation.id, partnerId: key.partnerId, filters };
    const cursor = parameters.cursor as string | undefined;
    const after = cursor === undefined ? '' : cursors.open(scope, cursor);

    const { records, next } = await listing.page(sources, key, parameters, after);
    const ending = next === undefined ? '' : `,"cursor":"${cursors.seal(scope, next)}"`;
    exchange.headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
    return `{"${operation.name}":[${records}]${ending}}`;
  };
}

async function imageRoute({ headers }: Exchange): Promise<Buffer> {
  headers.push('Content-Type', 'image/png', 'Cache-Control', 'public, max-age=86400');
  return placeholderImage;
}

/** Every request gets exactly one answer here, whatever happens on the way. */
async function answer(
  service: Service,
  routes: ReadonlyMap<string, Route>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { path, query } = splitTarget(request.url ?? '');
  const requestId = randomUUID();
  const exchange: Exchange = {
    requestId,
    startedMs: performance.now(),
    rawHeaders: request.rawHeaders,
    query,
    headers: ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'],
  };
  try {
    requireWellFormed(request);
    const route = routeOf(routes, path, request);
    if (request.method === 'OPTIONS') {
      exchange.headers.push('Allow', allowedMethods.join(', '));
      send(service, exchange, response, 204);
    } else {
      send(service, exchange, response, 200, await route(exchange));
    }
  } catch (thrown) {
    const refused = thrown instanceof Refusal ? thrown : refusalOfFault(service, exchange, thrown);
    exchange.headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
    exchange.headers.push(...refused.headers);
    const body = JSON.stringify({ errors: refused.errors });
    send(service, exchange, response, refused.status, body, refused.errors[0]?.code);
  }
}

function requireWellFormed(request: IncomingMessage): void {
  // Node counts names and values only, and lets many small headers through.
  if (headBytes(request) > bounds.requestHeadBytes) throw refusal('REQUEST_TOO_LARGE');
  const hosts = headerValues(request.rawHeaders, 'host').length;
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) throw refusal('MALFORMED_REQUEST');
}

/** The path is judged before the method, so that an unknown path says nothing of methods. */
function routeOf(routes: ReadonlyMap<string, Route>, path: string, request: IncomingMessage): Route {
  const route = routes.get(path);
  if (route === undefined) throw refusal('NOT_FOUND');
  if (!(allowedMethods as readonly string[]).includes(request.method ?? ''))
    throw refusal('METHOD_NOT_ALLOWED');
  return route;
}

/** The log gets the fault, the caller the request id to ask about it. */
function refusalOfFault({ log }: Service, { requestId }: Exchange, fault: unknown): Refusal {
  log.error({ request_id: requestId, err: fault }, 'request failed');
  return fault instanceof StoreUnavailable
    ? refusal('SERVICE_UNAVAILABLE')
    : refusal('INTERNAL_SERVER_ERROR', { requestId });
}

function send(
  { log }: Service,
  exchange: Exchange,
  response: ServerResponse,
  status: number,
  body?: string | Buffer,
  code?: string,
): void {
  if (body !== undefined) exchange.headers.push('Content-Length', String(Buffer.byteLength(body)));
  response.writeHead(status, exchange.headers);
  response.end(body);
  log.info(
    {
      request_id: exchange.requestId,
      operation: exchange.operation,
      partner_id: exchange.partnerId,
      status,
      code,
      duration_ms: Math.round((performance.now() - exchange.startedMs) * 1_000) / 1_000,
    },
    'request',
  );
}
