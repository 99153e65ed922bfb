/** Runs an operation for a caller: role, path, query, body, handler. The API and the console share it. */
import { adminBounds } from '@partner-network/common/bounds/operator';
import {
  type AdminOperation,
  type AdminOperationId,
  adminOperations,
} from '@partner-network/contract/admin/operations';
import { refusal } from '@partner-network/http/refusal';
import type { SealedBox } from '@partner-network/service/cursors';
import { ExpiryNotInFuture, whileLocked } from '@partner-network/store/port';
import { timeRejection } from '../ingest/rejections.ts';
import { IdConflict, Missing } from '../operations/errors.ts';
import { KeyNotActive } from '../operations/keys.ts';
import { requireRole } from './credentials.ts';
import { type Call, handlers } from './handlers.ts';
import { createReadPage } from './lists.ts';
import { notFound, refusalOfBody } from './refusals.ts';
import { authorOf, createBodyCheck, type OperationInput } from './request.ts';

/** What operations work with. */
type CallParts = Pick<Call, 'store' | 'batches'> & { readonly box: SealedBox };

/** Reads what the operation is given. A function, so that a caller without the role is refused before. */
type Read = (operation: AdminOperation) => OperationInput | Promise<OperationInput>;

/** What an operation answers. */
export type AnswerOf<Id extends AdminOperationId> = Awaited<ReturnType<(typeof handlers)[Id]>>;

export type Calls = ReturnType<typeof createCalls>;

export function createCalls({ store, box, batches }: CallParts) {
  const checks = Object.fromEntries(
    Object.entries(adminOperations).map(([id, operation]) => [id, createBodyCheck(operation)]),
  );

  return async <Id extends AdminOperationId>(
    id: Id,
    { caller, exchange }: Pick<Call, 'caller' | 'exchange'>,
    read: Read,
  ): Promise<AnswerOf<Id>> => {
    const operation: AdminOperation = adminOperations[id];
    requireRole(caller, operation.permission);
    const { path, query, body: sent } = await read(operation);
    const body = checks[id]!(sent);
    const call: Call = {
      store,
      exchange,
      caller,
      path,
      query,
      body,
      batches,
      by: (action) => authorOf(caller, action, exchange, body.reason as string | undefined),
      readPage: createReadPage(box, id, query),
    };
    // Beside a feed, which locks the embedded database again and again, a revocation is not refused. Postgres
    // waits by itself. Nothing is doubled: a handler changes something once, and a lock fails before that.
    const handler = handlers[id] as (call: Call) => Promise<AnswerOf<Id>>;
    return whileLocked(() => handler(call), adminBounds.lockMs).catch((error) => {
      throw refusalOf(error);
    });
  };
}

/** Turns what an operation throws into a refusal. */
function refusalOf(error: unknown): unknown {
  if (error instanceof IdConflict) return refusal('ID_CONFLICT', { what: error.what });
  if (error instanceof KeyNotActive) return refusal('KEY_NOT_ACTIVE', { status: error.status });
  if (error instanceof ExpiryNotInFuture)
    return refusalOfBody([timeRejection(error.isInherited ? 'inherited' : 'past', 'expires_at')]);
  return error instanceof Missing ? notFound(`There is no ${error.what} with this id.`) : error;
}
