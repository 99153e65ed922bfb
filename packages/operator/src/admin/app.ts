/** The routes of the service. A request of the API walks: credentials, role, path, query, body, operation. */
import { adminBounds } from '@partner-network/common/bounds/serve';
import { adminLimits } from '@partner-network/contract/admin/limits';
import {
  type AdminOperation,
  type AdminOperationId,
  adminOperations,
} from '@partner-network/contract/admin/operations';
import { errorRecord } from '@partner-network/contract/errors';
import type { Exchange, Route, Routes } from '@partner-network/http/handle';
import { Refusal } from '@partner-network/http/refusal';
import { headerValues } from '@partner-network/http/request';
import { createConsole } from '../console/routes.ts';
import type { ConsoleParts } from '../console/site.ts';
import { createCalls } from './calls.ts';
import { createIdentification, requireWorking } from './credentials.ts';
import { referenceRoutes } from './reference.ts';
import { readJsonBody } from './request.ts';
import { type Match, matchPath } from './routes.ts';

const bodyMs = adminLimits.bodySeconds * 1_000;

/** Milliseconds until a request must be answered, with its body and its waits. Undefined: the usual time. */
function answerMsOf(id: AdminOperationId): { readonly answerMs?: number } {
  if (id.startsWith('send')) return { answerMs: bodyMs + 2 * adminBounds.batchWaitMs + adminBounds.batchMs };
  return adminOperations[id].method === 'GET' ? {} : { answerMs: bodyMs + adminBounds.changeMs };
}

const byTime = (one: Timed, other: Timed) => (other.answerMs ?? 0) - (one.answerMs ?? 0);
type Timed = ReturnType<typeof answerMsOf>;

const foreignHost = new Refusal([
  {
    ...errorRecord('MALFORMED_REQUEST'),
    detail: 'Use the host localhost or 127.0.0.1. Behind a proxy, set --public-url.',
  },
]);

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
export function createAdminRoutes(parts: ConsoleParts, isOnlyLocal: boolean): Routes {
  const { store, journal } = parts;
  const identify = createIdentification(store, store.environment);
  const call = createCalls(parts);

  async function answer(id: AdminOperationId, { encoded }: Match, exchange: Exchange): Promise<string> {
    exchange.operation = id;
    const key = await identify(exchange.rawHeaders);
    // Also for a key that is refused below, so that the use of a leaked key can be traced.
    exchange.key = { id: key.id };
    requireWorking(key);
    journal.noteUse(key.id, Date.now());
    const body = (operation: AdminOperation) => readJsonBody(operation, exchange);
    const answered = await call(id, { key, exchange, encoded, query: exchange.query, body });
    exchange.status = answered.status ?? 200;
    exchange.headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
    return JSON.stringify(answered.body);
  }

  function routeOf(match: Match): Route {
    const [longest] = Object.values(match.byMethod).map(answerMsOf).toSorted(byTime);
    return {
      methods: Object.keys(match.byMethod),
      ...longest,
      answer: (exchange) => answer(match.byMethod[exchange.method]!, match, exchange),
    };
  }

  const console = createConsole(parts);
  const pages = new Map(referenceRoutes(parts.publicUrl));
  return {
    get: (path) => {
      const match = matchPath(path);
      const route = match ? routeOf(match) : (pages.get(path) ?? console(path));
      return route && isOnlyLocal ? onLocalHost(route) : route;
    },
  };
}
