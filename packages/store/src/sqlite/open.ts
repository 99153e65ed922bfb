import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { storeBounds } from '@partner-network/common/bounds/store';
import { OperatorError } from '@partner-network/common/errors';
import type { Environment } from '@partner-network/contract/environments';
import type { Purpose } from '../address.ts';
import { type Store, StoreLocked } from '../port.ts';
import { createAccounts } from '../sql/accounts.ts';
import { createAuditLog } from '../sql/audit.ts';
import { createRotation } from '../sql/cursor-keys.ts';
import { createAdminKeys } from '../sql/key-changes.ts';
import { createExpiry } from '../sql/keys.ts';
import { createMoves } from '../sql/moves.ts';
import { emptyLog, shrinkLog } from './disk-space.ts';
import { plainSql, translated } from './engine.ts';
import {
  cannotOpen,
  isReadOnly,
  obstacleTo,
  openFile,
  openToInspect,
  receiptsFileOf,
  tryWrite,
} from './file.ts';
import { type FileWatch, watchFiles } from './file-watch.ts';
import { databaseSchema, migrate, requireCurrent } from './migrate.ts';
import { createExport, createReads } from './reads.ts';
import { createReceipts } from './receipts.ts';

/** One transaction writes at a time, so a number that is missing never comes. */
const oneAtATime = `select '0' as oldest, '0' as next`;

const auditInRanges = (columns: string) => `
  select ${columns} from json_each($3) as range cross join audit_log
  where seq between range.value ->> 0 and range.value ->> 1 order by seq limit $2`;

/** Opens the embedded database and updates its schema. */
export function openSqlite(file: string, environment: Environment, purpose: Purpose): Store {
  // Absolute, because SQLite reads a path that starts with "file:" as a URI.
  const path = resolve(file);
  let db: DatabaseSync | undefined;
  let watch: FileWatch | undefined;
  try {
    refuseMissing(path, purpose);
    const cannotWrite = isReadOnly(path, purpose);
    db = cannotWrite ? openToInspect(path, storeBounds.sqliteCommandBusyMs) : openFile(path, purpose);
    const migration =
      cannotWrite || purpose === 'admin'
        ? requireCurrent(db, environment)
        : migrate(db, environment, databaseSchema, mayCreate(purpose));
    if (purpose === 'feed' || purpose === 'dry-run') {
      db.exec(`pragma busy_timeout = ${storeBounds.sqliteFeedBusyMs}`);
    }
    // A service that runs for months must notice that its file was replaced: a change would be lost.
    const sql = plainSql(db, purpose === 'admin' ? () => watch?.requireNow() : undefined);
    const receiptsPath = receiptsFileOf(path);
    const requireFile = () => watch?.requireNow(receiptsPath);
    const { closeReceipts, ...receipts } = createReceipts(path, environment, purpose, sql.rows, requireFile);
    if (purpose === 'serve') {
      db.exec(`pragma cache_size = -${storeBounds.sqliteServeCacheKibibytes}`);
      // Also shortens the wait for a lock, which the start needs.
      emptyLog(db);
      watch = watchFiles([path, receiptsPath]);
    }
    if (purpose === 'feed' || purpose === 'admin') watch = watchFiles([path]);
    return {
      environment,
      location: path,
      migration,
      metrics: [],
      ...(watch && { onFileFailure: watch.onChange }),
      ...createReads(db, watch),
      tryWrite: async () => {
        watch?.requireNow();
        await tryWrite(path);
      },
      ...createAccounts(sql),
      ...createAdminKeys(sql),
      ...createExpiry(sql),
      rotateCursorKey: createRotation(sql),
      ...createMoves(sql),
      ...createAuditLog(sql, oneAtATime, auditInRanges),
      // Temporary tables belong to the connection, which all runs share.
      runsAtOnce: 1,
      beginImport: async (kind, options) => {
        // Loaded by the first import: `serve` has none.
        const { beginImport } = await import('./imports/imports.ts');
        return beginImport(db!, path, () => watch?.requireNow(), kind, options);
      },
      exportRecords: createExport(path),
      ...receipts,
      close: async () => {
        await closeReceipts();
        if (purpose !== 'serve' && purpose !== 'admin') shrinkLog(db!, path);
        db?.close();
        watch?.close();
      },
    };
  } catch (error) {
    db?.close();
    if (purpose === 'revocation' && translated(error) instanceof StoreLocked) throw translated(error);
    throw error instanceof OperatorError ? error : cannotOpen('the database', path, error);
  }
}

function mayCreate(purpose: Purpose): boolean {
  return purpose === 'create' || purpose === 'migrate';
}

/** Throws if the database does not exist, unless the command may create it: the path may be mistyped. */
export function refuseMissing(path: string, purpose: Purpose): void {
  const obstacle = obstacleTo(path);
  if (obstacle !== undefined) {
    const remedy = 'Correct the path, or run as a user with access.';
    throw new OperatorError(`Cannot open the database ${path}: ${obstacle}. ${remedy}`);
  }
  if (!mayCreate(purpose) && !existsSync(path)) {
    throw new OperatorError(
      `The database ${path} does not exist. Correct --database and --environment, or create it with ` +
        '"partner-network migrate" and the same settings.',
    );
  }
}
