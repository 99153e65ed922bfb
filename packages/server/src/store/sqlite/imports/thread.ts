/** Runs as a thread: writes the rows of an import, batch after batch, and says of each how that went. */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { storeBounds } from '../../../bounds/store.ts';
import type { ImportCounts } from '../../port.ts';
import type { Order, Outcome, ThreadData } from './writer.ts';
import { createImportWrites } from './writes.ts';

const { path, kind } = workerData as ThreadData;
const db = new DatabaseSync(path, { timeout: storeBounds.sqliteCommandBusyMs });
const writes = createImportWrites(db, kind, 'fast');
let fault: { readonly message: string; readonly errcode: number | undefined } | undefined;

function follow(order: Exclude<Order, 'end'>): ImportCounts | undefined {
  if ('mode' in order) return writes.write(order.mode);
  writes.stage(JSON.parse(order.rows));
  return undefined;
}

/** After a failure nothing is done any more: what was given before it is not there. */
function outcomeOf(order: Exclude<Order, 'end'>): Outcome {
  if (fault !== undefined) return { fault };
  try {
    const counts = follow(order);
    return counts === undefined ? {} : { counts };
  } catch (error) {
    // The engine's own error: the other thread finds the port's word for it.
    const { message, errcode } = ((error as Error).cause ?? error) as { message: string; errcode?: number };
    fault = { message, errcode };
    return { fault };
  }
}

parentPort!.on('message', (order: Order) => {
  if (order !== 'end') {
    parentPort!.postMessage(outcomeOf(order));
    return;
  }
  writes.end();
  db.close();
  parentPort!.close();
});
