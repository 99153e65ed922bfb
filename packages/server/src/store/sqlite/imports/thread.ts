/** Runs as a thread: writes the rows of an import, batch after batch. */
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { storeBounds } from '../../../bounds/store.ts';
import { answerCalls } from '../thread-call.ts';
import type { ImportRequest } from './imports.ts';
import { createImportWrites } from './writes.ts';

const { path, kind, options, startedAt } = workerData;
const db = new DatabaseSync(path, { timeout: storeBounds.sqliteCommandBusyMs });
const writes = createImportWrites(db, kind, options, startedAt);

answerCalls<ImportRequest>(
  (request) => {
    if ('segment' in request) return writes.stage(JSON.parse(request.segment));
    return 'write' in request ? writes.write(request.write) : writes.countMissing();
  },
  () => {
    writes.end();
    db.close();
  },
);
