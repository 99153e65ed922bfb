/** The parts of the service, traced: each is put in front of the one it is made of. */
import { operations } from '@partner-network/contract/operations';
import type { Exchange, Route, Routes } from '../http/handle.ts';
import type { Limiter } from '../limiter/port.ts';
import { type Attributes, inside, note, type Span, traced } from '../observability/span.ts';
import type { Reads } from '../store/port.ts';
import { callersSpan } from './callers-span.ts';
import type { Tracing } from './port.ts';

interface Parts {
  readonly store: Reads;
  readonly limiters: Readonly<Partial<Record<string, Limiter>>>;
}

export function tracedParts<P extends Parts>(parts: P, { databaseSystem }: Tracing): P {
  const limiters = Object.entries(parts.limiters).map(([name, limiter]) => [name, tracedLimiter(limiter!)]);
  return {
    ...parts,
    store: tracedReads(parts.store, databaseSystem),
    limiters: Object.fromEntries(limiters),
  };
}

/** Traces the reads of a request: the key, and the page of each listing of the contract. */
function tracedReads(store: Reads, system: string): Reads {
  const names = ['findKey', ...operations.map(({ id }) => id)] as const;
  const reads = names.map((name) => {
    const attributes = { 'db.system.name': system, 'db.operation.name': name };
    const read = store[name] as (query: unknown) => Promise<unknown>;
    return [name, (query: unknown) => traced(`store ${name}`, 'client', attributes, () => read(query))];
  });
  return { ...store, ...Object.fromEntries(reads) };
}

function tracedLimiter(limiter: Limiter): Limiter {
  return {
    ...limiter,
    admit: (partnerId) =>
      traced('limiter admit', 'internal', {}, async () => {
        const decision = await limiter.admit(partnerId);
        note({
          'partner_network.limiter.outcome': decision.isAdmitted ? 'admitted' : 'refused',
          'partner_network.limiter.source': decision.source,
        });
        return decision;
      }),
  };
}

/** Only requests for a path that there is: whoever tries others costs no trace. */
export function tracedRoutes(routes: Routes, tracing: Tracing): Routes {
  return new Map([...routes].map(([path, route]) => [path, tracedRoute(path, route, tracing)]));
}

function tracedRoute(path: string, route: Route, tracing: Tracing): Route {
  return (exchange) => {
    if (!tracing.isDue()) return route(exchange);
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
    return inside(span, () => route(exchange));
  };
}

function endRequest(span: Span, { operation, partnerId }: Exchange, status: number, code?: string): void {
  span.note({
    'http.response.status_code': status,
    ...(operation !== undefined && { 'partner_network.operation': operation }),
    ...(partnerId !== undefined && { 'partner_network.partner_id': partnerId }),
    ...(code !== undefined && { 'partner_network.code': code }),
  } satisfies Attributes);
  // A refusal is the caller's fault, and no error of the service.
  span.end(status >= 500 ? code : undefined);
}
