/** Cursors whose keys are read again and again, so that a rotation takes no restart. */
import type { Logger } from 'pino';
import { cursorsBounds } from '../bounds/cursors.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { type CursorKey, type Store, StoreUnavailable } from '../store/port.ts';
import { type Cursors, createCursors } from './cursors.ts';

interface OpenCursors extends Cursors {
  /** Ends the reading. */
  close(): void;
}

/**
 * A cursor that one instance seals must open on all others. So a new key seals only when every instance has
 * read it, or has not read for so long that it opens and seals nothing: what is read is good for a few
 * seconds, counted on a clock that nobody sets. A key that was discarded opens nothing after these, either.
 */
export async function openCursors(
  store: Pick<Store, 'cursorKeys' | 'environment'>,
  nowMs: () => number,
  log: Logger,
  elapsedMs: () => number = () => performance.now(),
): Promise<OpenCursors> {
  let freshUntilMs = 0;
  let isTold = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  async function read(): Promise<readonly CursorKey[]> {
    // What was read is as old as the question.
    const askedMs = elapsedMs();
    const keys = await store.cursorKeys();
    if (keys.length === 0) {
      throw new OperatorError(
        'The database has no key to seal cursors with: "partner-network cursor-key rotate" makes one.',
      );
    }
    freshUntilMs = askedMs + cursorsBounds.cursorKeysStaleMs;
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
      tell(keys[0]!.id);
      schedule(cursorsBounds.cursorKeysReadMs);
    } catch (fault) {
      if (!isTold && !isFresh()) {
        isTold = true;
        log.error({ err: fault }, 'the keys of cursors cannot be read; nothing is sealed or opened');
      }
      schedule(cursorsBounds.cursorKeysRetryMs);
    }
  }

  function tell(id: number): void {
    if (isTold) log.warn('the keys of cursors are read again');
    if (id !== sealingId) log.info({ cursor_key: id }, 'cursors are sealed with another key');
    isTold = false;
    sealingId = id;
  }

  function isFresh(): boolean {
    return elapsedMs() < freshUntilMs;
  }

  function requireFresh(): void {
    if (!isFresh()) throw new StoreUnavailable('The keys of cursors could not be read for too long.');
  }

  schedule(cursorsBounds.cursorKeysReadMs);
  return {
    seal(scope, position) {
      requireFresh();
      return cursors.seal(scope, position);
    },
    open(scope, cursor) {
      requireFresh();
      return cursors.open(scope, cursor);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
