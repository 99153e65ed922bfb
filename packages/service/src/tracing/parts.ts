/** Wraps the store, the limiters and the routes of the service, so that each call becomes a span. */
import { inside, note, type Span, traced } from '@partner-network/common/observability/span';
import { listings } from '@partner-network/contract/operations';
import type { Exchange, Route } from '@partner-network/http/handle';
import { headerValues } from '@partner-network/http/request';
import type { Reads } from '@partner-network/store/port';
import type { Limiter } from '../limiter/rate-limit.ts';
import type { SpanName, Tracing } from './collector.ts';

/** Traces the reads of a request, which are the key and the page of each listing, and the limiters. */
export function tracedParts<P extends { store: Reads; limiters: Partial<Record<string, Limiter>> }>(
  parts: P,
  { databaseSystem }: Tracing,
): P {
  const reads = (['findKey', ...listings.map(({ id }) => id)] as const).map((name) => {
    const attributes = { 'db.system.name': databaseSystem, 'db.operation.name': name };
    const read = parts.store[name] as (query: unknown) => Promise<unknown>;
    return [name, (query: unknown) => traced(`store ${name}`, 'client', attributes, () => read(query))];
  });
  const limiters = Object.entries(parts.limiters).map(([name, limiter]) => [name, tracedLimiter(limiter!)]);
  return {
    ...parts,
    store: { ...parts.store, ...Object.fromEntries(reads) },
    limiters: Object.fromEntries(limiters),
  };
}

function tracedLimiter(limiter: Limiter): Limiter {
  return {
    ...limiter,
    admit: (...about) =>
      traced('limiter admit', 'internal', {}, async () => {
        const decision = await limiter.admit(...about);
        note({
          'partner_network.limiter.outcome': decision.isAdmitted ? 'admitted' : 'refused',
          'partner_network.limiter.source': decision.source,
        });
        return decision;
      }),
  };
}

/** Traces the requests for known paths; requests for other paths cost no trace. */
export function tracedRoutes(routes: ReadonlyMap<string, Route>, tracing: Tracing) {
  return new Map([...routes].map(([path, route]) => [path, tracedRoute(path, route, tracing)]));
}

function tracedRoute(path: string, route: Route, tracing: Tracing): Route {
  const answer = (exchange: Exchange) => {
    if (!tracing.isSampled()) return route.answer(exchange);
    const { method, requestId, rawHeaders } = exchange;
    const attributes = {
      'http.request.method': method,
      'http.route': path,
      'url.path': path,
      'url.scheme': 'http',
      'partner_network.request_id': requestId,
    };
    const span = tracing.begin(`${method} ${path}`, attributes, callersSpan(rawHeaders));
    exchange.trace = { id: span.traceId, end: (status, code) => endRequest(span, exchange, status, code) };
    return inside(span, () => route.answer(exchange));
  };
  return { ...route, answer };
}

/** Version 00 of W3C Trace Context, the only version that exists; ids of only zeros are invalid. */
const traceParent = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The span of the client's own trace, if `traceparent` is sent once and is valid. */
function callersSpan(rawHeaders: readonly string[]): SpanName | undefined {
  const [header = '', ...more] = headerValues(rawHeaders, 'traceparent');
  const [, traceId, spanId] = traceParent.exec(header) ?? [];
  if (more.length > 0 || traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId };
}

function endRequest(span: Span, { operation, key }: Exchange, status: number, code?: string): void {
  span.note({
    'http.response.status_code': status,
    ...(operation !== undefined && { 'partner_network.operation': operation }),
    ...(key !== undefined && { 'partner_network.partner_id': key.partnerId }),
    ...(code !== undefined && { 'partner_network.code': code }),
  });
  // A 4xx is the client's error, not one of the service.
  span.end(status >= 500 ? code : undefined);
}
