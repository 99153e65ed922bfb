/** Runs as a thread: writes batches of receipts, one after the other, and says how that went. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { storeBounds } from '../../../bounds/store.ts';
import type { Order, Outcome } from './writer.ts';
import { createWrites } from './writes.ts';

const db = new DatabaseSync(workerData, { timeout: storeBounds.sqliteServeBusyMs });
const writes = createWrites(db);

parentPort!.on('message', ({ kind, batch }: Order) => {
  if (kind === 'end') {
    db.close();
    parentPort!.close();
    return;
  }
  let fault: string | undefined;
  try {
    writes[kind](JSON.parse(batch));
  } catch (error) {
    fault = (error as Error).message;
  }
  parentPort!.postMessage({ fault } satisfies Outcome);
});
