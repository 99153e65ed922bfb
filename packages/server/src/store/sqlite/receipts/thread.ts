/** Runs as a thread: writes batches of receipts and of key uses. */
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { storeBounds } from '../../../bounds/store.ts';
import { answerCalls } from '../thread-call.ts';
import type { WriteRequest } from './writer.ts';
import { createWrites } from './writes.ts';

const db = new DatabaseSync(workerData, { timeout: storeBounds.sqliteServeBusyMs });
const writes = createWrites(db);

answerCalls<WriteRequest>(
  ({ kind, batch }) => writes[kind](JSON.parse(batch)),
  () => db.close(),
);
