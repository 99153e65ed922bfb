/** The routes of the administrative API. A request walks: credentials, role, path, query, body, operation. */
import { httpBounds } from '@partner-network/common/bounds/http';
import { adminBounds } from '@partner-network/common/bounds/serve';
import { adminLimits } from '@partner-network/contract/admin/limits';
import {
  type AdminOperation,
  type AdminOperationId,
  adminOperations,
} from '@partner-network/contract/admin/operations';
import type { Exchange, Route, Routes } from '@partner-network/http/handle';
import { parseParameters } from '@partner-network/http/parameters/parameters';
import { requireValid } from '@partner-network/service/auth/authenticate';
import type { Cursors } from '@partner-network/service/cursors/cursors';
import type { Journal } from '@partner-network/service/receipts/journal';
import type { Store } from '@partner-network/store/port';
import { IdConflict, Missing } from '../operations/errors.ts';
import { KeyNotActive } from '../operations/keys.ts';
import { type BatchSender, kindOfBatch } from './batch-sender.ts';
import { createIdentification, requireRole } from './credentials.ts';
import { handlers } from './handlers.ts';
import type { ListQuery, Page } from './lists.ts';
import { referenceRoutes } from './reference.ts';
import { adminRefusal, notFound } from './refusals.ts';
import { authorOf, createBodyReader, type Fields, pathOf, withTimes } from './request.ts';
import { type Match, matchPath } from './routes.ts';

export interface AdminParts {
  readonly store: Store;
  readonly cursors: Cursors;
  readonly journal: Pick<Journal, 'noteUse'>;
  readonly batches: BatchSender;
  /** A function, because the service's own port is known only once it listens. */
  readonly publicUrl: () => string;
}

const bodyMs = adminLimits.bodySeconds * 1_000;

/** Milliseconds until a request must be answered, with its body and its waits. */
function answerMsOf(id: AdminOperationId): number {
  if (kindOfBatch(id)) return bodyMs + adminBounds.batchWaitMs + adminBounds.batchMs;
  return adminOperations[id].method === 'GET' ? httpBounds.answerMs : bodyMs + adminBounds.changeMs;
}

export function createAdminRoutes(parts: AdminParts): Routes {
  const { store, cursors, journal, batches } = parts;
  const identify = createIdentification(store);
  const bodyReaders = Object.fromEntries(
    Object.entries(adminOperations).map(([id, operation]) => [id, createBodyReader(operation)]),
  );

  async function answer(id: AdminOperationId, { encoded }: Match, exchange: Exchange): Promise<string> {
    const operation: AdminOperation = adminOperations[id];
    exchange.operation = id;
    const key = await identify(exchange.rawHeaders);
    // Also for a key that is refused below, so that the use of a leaked key can be traced.
    exchange.key = { id: key.id };
    requireValid(key, Date.now());
    journal.noteUse(key.id, Date.now());
    requireRole(key, operation.role);

    const path = pathOf(operation, encoded);
    const query = withTimes(parseParameters({ parameters: operation.parameters ?? {} }, exchange.query));
    const body = await bodyReaders[id]!(exchange);
    const answered = await handlers[id]({
      ...{ store, exchange, key, path, query, body, batches },
      by: (action) => authorOf(key, action, exchange, body.reason as string | undefined),
      page: (read) => readPage(cursors, id, query, read),
    });
    exchange.status = answered.status ?? 200;
    exchange.headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
    return JSON.stringify(answered.body);
  }

  function routeOf(match: Match): Route {
    const idOf = (method: string) => match.byMethod[method]!;
    return {
      methods: Object.keys(match.byMethod),
      answerMs: (method) => answerMsOf(idOf(method)),
      answer: (exchange) =>
        answer(idOf(exchange.method), match, exchange).catch((error) => {
          const kind = kindOfBatch(idOf(exchange.method));
          if (kind !== undefined) batches.countRefused(kind);
          throw refusalOf(error);
        }),
    };
  }

  const pages = new Map(referenceRoutes(parts.publicUrl));
  return {
    get: (path) => {
      const match = matchPath(path);
      return match ? routeOf(match) : pages.get(path);
    },
  };
}

/** Reads a page. Its cursor is bound to the operation and to all parameters but `limit`. */
async function readPage(
  cursors: Cursors,
  endpoint: string,
  { cursor, limit, ...values }: Fields,
  read: (query: ListQuery) => Promise<Page>,
): Promise<object> {
  const filters = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [name, value],
  );
  const scope = { endpoint, partnerId: '', filters };
  const after = () =>
    (cursor === undefined ? undefined : JSON.parse(cursors.open(scope, String(cursor)).after)) as never;
  const { records, next } = await read({ values, limit: Number(limit), after });
  const sealed = () => cursors.seal(scope, { after: JSON.stringify(next), walPosition: 0n });
  return { records, ...(next !== undefined && { cursor: sealed() }) };
}

/** Turns what an operation throws into a refusal. */
function refusalOf(error: unknown): unknown {
  if (error instanceof IdConflict) return adminRefusal('ID_CONFLICT', { what: error.what });
  if (error instanceof KeyNotActive) return adminRefusal('KEY_NOT_ACTIVE', { status: error.status });
  return error instanceof Missing ? notFound(`There is no ${error.what} with this id.`) : error;
}
