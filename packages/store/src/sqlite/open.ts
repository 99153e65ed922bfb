import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { storeBounds } from '@partner-network/common/bounds/store';
import { OperatorError } from '@partner-network/common/errors';
import type { Environment } from '@partner-network/contract/environments';
import type { OpenOptions } from '../address.ts';
import type { Store } from '../port.ts';
import { createManagement } from '../sql/accounts.ts';
import type { Differences } from '../sql/statement.ts';
import { emptyLog, shrinkLog } from './disk-space.ts';
import { createSql, endReads } from './engine.ts';
import { cannotOpen, obstacleTo, receiptsFileOf, sandboxBeside, tryWrite } from './file.ts';
import { type FileWatch, watchFiles } from './file-watch.ts';
import { databaseSchema, openCurrent } from './migrate.ts';
import { createExport, createReads } from './reads.ts';
import { createReceipts } from './receipts.ts';

const differences: Differences = {
  // One transaction writes at a time, so nothing waits, and a number that is missing never comes.
  locks: { createGrant: [], eraseCustomer: [], rotateCursorKey: [] },
  transactions: `select '0' as oldest, '0' as next`,
  auditInRanges: (columns) => `
    select ${columns} from json_each($3) as range cross join audit_log
    where seq between range.value ->> 0 and range.value ->> 1 order by seq limit $2`,
};

export function openSqlite(file: string, environment: Environment, options: OpenOptions): Store {
  const { role, schema = '', answersRequests = false, watchesFiles = false, blockMs } = options;
  // Absolute, because SQLite reads a path that starts with "file:" as a URI.
  const path = resolve(file);
  let db: DatabaseSync | undefined;
  let watch: FileWatch | undefined;
  try {
    const mayCreate = ['create', 'update'].includes(schema);
    refuseMissing(path, mayCreate);
    const opened = openCurrent(path, environment, options, databaseSchema, mayCreate);
    db = opened.db;
    if (blockMs !== undefined) db.exec(`pragma busy_timeout = ${blockMs}`);
    // What runs for months must notice that its file was replaced: a change would be lost.
    const sql = createSql(db, () => watch?.requireNow());
    const receiptsPath = receiptsFileOf(path);
    const requireFile = () => watch?.requireNow(receiptsPath);
    const receipts = createReceipts(path, environment, options, sql.rows, requireFile);
    const isService = role !== undefined;
    if (isService || mayCreate) receipts.open();
    if (answersRequests) {
      db.exec(`pragma cache_size = -${storeBounds.sqliteServeCacheKibibytes}`);
      // Also shortens the wait for a lock, which the start needs.
      emptyLog(db);
    }
    if (watchesFiles) watch = watchFiles(answersRequests ? [path, receiptsPath] : [path]);
    return {
      environment,
      location: path,
      migration: opened.migration,
      metrics: [],
      ...(watch && { onFileFailure: watch.onChange }),
      ...createReads(db, watch),
      tryWrite: async () => {
        watch?.requireNow();
        await tryWrite(path);
      },
      ...createManagement(sql, differences),
      // Temporary tables belong to the connection, which all runs share.
      runsAtOnce: 1,
      beginImport: async (kind, options) => {
        // Loaded by the first import: `serve` has none.
        const { beginImport } = await import('./imports/imports.ts');
        return beginImport(db!, path, () => watch?.requireNow(), kind, options);
      },
      exportRecords: createExport(path),
      ...receipts.all,
      close: async () => {
        await receipts.close();
        endReads();
        if (!isService) shrinkLog(opened.db, path);
        db?.close();
        watch?.close();
      },
    };
  } catch (error) {
    db?.close();
    throw error instanceof OperatorError ? error : cannotOpen('the database', path, error);
  }
}

/** Throws if the database does not exist, unless the command may create it: the path may be mistyped. */
export function refuseMissing(path: string, mayCreate: boolean): void {
  const obstacle = obstacleTo(path);
  if (obstacle !== undefined) {
    const remedy = 'Correct the path, or run as a user with access.';
    throw new OperatorError(`Cannot open the database ${path}: ${obstacle}. ${remedy}`);
  }
  if (!mayCreate && !existsSync(path)) {
    const create = 'create it with "partner-network migrate" and the same settings.';
    const remedy = `Correct --database and --environment, or ${create}`;
    throw new OperatorError(`The database ${path} does not exist. ${sandboxBeside(path)}${remedy}`);
  }
}
