/** Runs as a thread: writes the rows of an import, batch after batch. */
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { storeBounds } from '@partner-network/common/bounds/store';
import { answerCalls } from '../thread-call.ts';
import type { ImportRequest } from './imports.ts';
import { ImportWrites } from './writes.ts';

const { path, kind, options, startedAt } = workerData;
const db = new DatabaseSync(path, { timeout: storeBounds.sqliteFeedBusyMs });
// The importer has checked the rows, at least as strictly as the table, which would take a third longer.
const writes = new ImportWrites(db, kind, options, startedAt, false);

answerCalls<ImportRequest>(
  (request) => {
    if ('rows' in request) return writes.stage(JSON.parse(request.rows));
    if ('write' in request) return writes.write(request.write);
    return writes[request.call]();
  },
  () => {
    writes.end();
    db.close();
  },
);
