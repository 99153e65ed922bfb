/** The routes of the service. A request of the API walks: credentials, role, path, query, body, operation. */
import { httpBounds } from '@partner-network/common/bounds/http';
import { adminBounds } from '@partner-network/common/bounds/operator';
import {
  type AdminOperation,
  type AdminOperationId,
  adminOperations,
} from '@partner-network/contract/admin/operations';
import { adminLimits } from '@partner-network/contract/limits';
import type { Exchange, Route, Routes, Site } from '@partner-network/http/handle';
import { refusalSaying } from '@partner-network/http/refusal';
import { headerValues } from '@partner-network/http/request';
import { type BatchSender, batchKinds } from './batch-sender.ts';
import type { Calls } from './calls.ts';
import { type Identify, inOwnWords } from './credentials.ts';
import { createReference } from './reference.ts';
import { type Answered, readRequest } from './request.ts';
import { type Match, matchPath } from './routes.ts';

export interface AdminParts {
  readonly identify: Identify;
  readonly call: Calls;
  readonly batches: BatchSender;
  /** A function, because the service's own port is known only once it listens. */
  readonly publicUrl: () => string;
}

const bodyMs = adminLimits.bodySeconds * 1_000;

/** Milliseconds until a request must be answered, with its body and its waits. */
function answerMsOf(id: AdminOperationId): number {
  if (batchKinds[id]) return bodyMs + adminBounds.batchWaitMs + adminBounds.batchMs;
  return adminOperations[id].method === 'GET' ? httpBounds.answerMs : bodyMs + adminBounds.changeMs;
}

const foreignHost = refusalSaying(
  'MALFORMED_REQUEST',
  'Use the host localhost or 127.0.0.1. Behind a proxy, set --public-url.',
);

/** A name with a dot. Addresses end with a digit or a bracket, and no website has a name without a dot. */
const nameOfWebsite = /\.(?!localhost$)[a-z][\w-]*\.?$/i;

/**
 * Refuses the names of websites. A website can give its own name the address 127.0.0.1, and then a browser
 * lets it read what this service answers. In a sandbox everybody knows the key.
 */
function onLocalHost(route: Route): Route {
  return {
    ...route,
    answer: async (exchange) => {
      const [host] = headerValues(exchange.rawHeaders, 'host');
      if (nameOfWebsite.test(URL.parse(`http://${host}`)?.hostname ?? '')) throw foreignHost;
      return route.answer(exchange);
    },
  };
}

/** `isOnlyLocal` is set for a service that has only clients on its own machine. */
export function createAdminRoutes(
  { identify, call, batches, publicUrl }: AdminParts,
  console: Routes['get'],
  isOnlyLocal: boolean,
): Pick<Site, 'routes' | 'refusalPage'> {
  async function answer({ id, encoded }: Match[string], exchange: Exchange): Promise<string> {
    exchange.operation = id;
    const caller = await identify(exchange);
    const read = (operation: AdminOperation) => readRequest(operation, encoded, exchange);
    const answered: Answered = await call(id, { caller, exchange }, read);
    exchange.status = answered.status ?? 200;
    exchange.headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
    return JSON.stringify(answered.body);
  }

  function routeOf(match: Match): Route {
    return {
      methods: Object.keys(match),
      answerMs: (method) => answerMsOf(match[method]!.id),
      answer: (exchange) => {
        const place = match[exchange.method]!;
        return answer(place, exchange).catch((error) => {
          const kind = batchKinds[place.id];
          if (kind !== undefined) batches.countRefused(kind);
          throw inOwnWords(error);
        });
      },
    };
  }

  const reference = createReference(publicUrl);
  const pages = new Map(reference.routes);
  const routes: Routes = {
    get: (path) => {
      const match = matchPath(path);
      const route = match ? routeOf(match) : (pages.get(path) ?? console(path));
      return route && isOnlyLocal ? onLocalHost(route) : route;
    },
  };
  return { routes, refusalPage: reference.refusalPage };
}
