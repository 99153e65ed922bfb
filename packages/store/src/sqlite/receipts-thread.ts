/** Runs as a thread: writes batches of receipts and of key uses. */
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { storeBounds } from '@partner-network/common/bounds/store';
import { answerCalls } from './thread-call.ts';

let db: DatabaseSync | undefined;

/** Opened by the first call, so that a failure answers the call and does not end the thread. */
function open(): DatabaseSync {
  const opened = new DatabaseSync(workerData, { timeout: storeBounds.sqliteServeBusyMs });
  // A killed process loses nothing. A power failure loses what was written since the last checkpoint.
  opened.exec('pragma synchronous = normal');
  opened.exec(`pragma cache_size = -${storeBounds.sqliteReceiptsCacheKibibytes}`);
  return opened;
}

export interface BatchWrite {
  readonly statement: string;
  /** JSON: copying thousands of objects into a thread takes longer than one text. */
  readonly batch: string;
}

answerCalls<BatchWrite>(
  ({ statement, batch }) => {
    db ??= open();
    db.prepare(statement).run(batch);
  },
  () => db?.close(),
);
