/** Runs as a thread: writes the rows of an import, batch after batch. */
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { storeBounds } from '../../../bounds/store.ts';
import { answerCalls } from '../thread-call.ts';
import type { ImportRequest, ImportThreadData } from './imports.ts';
import { createImportWrites } from './writes.ts';

const { path, kind } = workerData as ImportThreadData;
const db = new DatabaseSync(path, { timeout: storeBounds.sqliteCommandBusyMs });
const writes = createImportWrites(db, kind, 'fast');

let fault: unknown;

/** After a failure every request fails: its rows are not in the transaction. */
function handle(request: ImportRequest) {
  if (fault !== undefined) throw fault;
  try {
    return 'mode' in request ? writes.write(request.mode) : writes.stage(JSON.parse(request.rows));
  } catch (error) {
    fault = error;
    throw error;
  }
}

answerCalls(handle, () => {
  writes.end();
  db.close();
});
