/** Cursors whose keys are read every half second, so that a rotation needs no restart. */

import { cursorsBounds } from '@partner-network/common/bounds/service';
import { OperatorError } from '@partner-network/common/errors';
import { createFailureLog } from '@partner-network/common/observability/log';
import { type CursorKey, type Store, StoreUnavailable } from '@partner-network/store/port';
import type { Logger } from 'pino';
import { type CursorScope, type Cursors, createCursors, type Position } from './cursors.ts';

/**
 * A cursor that one instance seals must open on all others. So the keys that were read are valid for only
 * `cursorKeysStaleMs` of the monotonic clock; without valid keys an instance neither seals nor opens. A new
 * key seals after `cursorKeySettleMs`: by then every instance has read it, or has no valid keys.
 */
export async function openCursors(
  store: Pick<Store, 'cursorKeys' | 'environment'>,
  nowMs: () => number,
  log: Logger,
  elapsedMs: () => number = () => performance.now(),
) {
  const outage = createFailureLog();
  let freshUntilMs = 0;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  async function read(): Promise<readonly CursorKey[]> {
    // A reading is as old as its query.
    const sentMs = elapsedMs();
    const keys = await store.cursorKeys();
    if (keys.length === 0) {
      throw new OperatorError(
        'The database has no cursor key. Create one with "partner-network cursor-key rotate".',
      );
    }
    freshUntilMs = sentMs + cursorsBounds.keysStaleMs;
    return keys;
  }

  const first = await read();
  const cursors = createCursors(first, store.environment, nowMs);
  let sealingId = first[0]!.id;

  function schedule(ms: number): void {
    if (!isClosed) timer = setTimeout(() => void renew(), ms).unref();
  }

  async function renew(): Promise<void> {
    try {
      const keys = await read();
      cursors.renew(keys);
      outage.recovered(() => log.warn('the cursor keys can be read again'));
      const { id } = keys[0]!;
      if (id !== sealingId) log.info({ cursor_key: id }, 'cursors are now sealed with another key');
      sealingId = id;
      schedule(cursorsBounds.keysReadMs);
    } catch (err) {
      if (!isFresh()) {
        outage.failed(() =>
          log.error({ err }, 'the cursor keys cannot be read; requests that need a cursor get 503'),
        );
      }
      schedule(cursorsBounds.keysRetryMs);
    }
  }

  const isFresh = () => elapsedMs() < freshUntilMs;

  function freshCursors(): Cursors {
    if (!isFresh()) throw new StoreUnavailable('The cursor keys could not be read in time.');
    return cursors;
  }

  schedule(cursorsBounds.keysReadMs);
  return {
    seal: (scope: CursorScope, position: Position) => freshCursors().seal(scope, position),
    open: (scope: CursorScope, cursor: string) => freshCursors().open(scope, cursor),
    /** Stops reading the keys. */
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
