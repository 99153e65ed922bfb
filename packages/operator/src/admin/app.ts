/** The routes of the service. A request of the API walks: credentials, role, path, query, body, operation. */
import { adminBounds } from '@partner-network/common/bounds/serve';
import { adminLimits } from '@partner-network/contract/admin/limits';
import {
  type AdminOperation,
  type AdminOperationId,
  adminOperations,
} from '@partner-network/contract/admin/operations';
import type { Exchange, Route, Routes } from '@partner-network/http/handle';
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

export function createAdminRoutes(parts: ConsoleParts): Routes {
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
      return match ? routeOf(match) : (pages.get(path) ?? console(path));
    },
  };
}
