/** Runs as a thread: writes the rows of an import, batch after batch. */
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { storeBounds } from '@partner-network/common/bounds/store';
import { StoreUnavailable } from '../../port.ts';
import { isLocked } from '../engine.ts';
import { answerCalls } from '../thread-call.ts';
import type { ImportRequest } from './imports.ts';
import { createSigns } from './signs.ts';
import { createImportWrites } from './writes.ts';

const { path, kind, options, startedAt, signs: shared } = workerData;
const signs = createSigns(shared);
const db = new DatabaseSync(path, { timeout: storeBounds.sqliteFeedBusyMs });
const writes = createImportWrites(db, kind, options, startedAt, signs, beginWriting);

/** Waits for other commands without a limit, until the import is stopped. */
function beginWriting(): void {
  for (;;) {
    try {
      db.exec('begin immediate');
      signs.setWaiting(false);
      return;
    } catch (error) {
      if (!isLocked((error as { errcode?: number }).errcode ?? 0) || signs.isPrevented()) throw error;
      signs.setWaiting(true);
    }
  }
}

answerCalls<ImportRequest>(
  (request) => {
    if (signs.isPrevented()) throw new StoreUnavailable('The import was stopped before its commit.');
    if ('segment' in request) return writes.stage(JSON.parse(request.segment));
    if ('write' in request) return writes.write(request.write);
    return 'commit' in request ? writes.commit() : writes.countMissing();
  },
  () => {
    writes.end();
    db.close();
  },
);
