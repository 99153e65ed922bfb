/** Copies the embedded database and its receipts while other processes read and write them. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import type { Environment } from '@partner-network/contract/environments';
import { storeBounds } from '../../bounds/store.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { faultOfEnvironment, faultOfOldVersion, refuse } from '../sql/schema.ts';
import { translated } from './engine.ts';
import { openToInspect, receiptsFileOf } from './file.ts';
import { databaseSchema, type FileSchema, receiptsSchema, stampOf } from './migrate.ts';
import { refuseMissing } from './open.ts';

interface CopiedFile {
  readonly file: string;
  readonly bytes: number;
}

interface Copies {
  readonly database: CopiedFile;
  /** Absent if the database was never served. */
  readonly receipts?: CopiedFile;
}

interface Part {
  readonly source: string;
  readonly target: string;
  /** The copy's name until it is complete. */
  readonly partial: string;
  readonly schema: FileSchema;
}

/** One step copies one snapshot. With several steps, SQLite restarts the copy after every write. */
const pagesOfStep = 2 ** 31 - 1;
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damaged = new Set([11, 26]);
/** SQLITE_IOERR and SQLITE_FULL. */
const unwritten = new Set([10, 13]);

/** Registers a function to call before a signal ends the process. Returns a function that unregisters it. */
type OnInterrupt = (cleanUp: () => void) => () => void;

/** Does not migrate: a copy made before an upgrade must work with the older program. */
export async function backUpSqlite(
  file: string,
  environment: Environment,
  copy: string,
  onInterrupt: OnInterrupt,
): Promise<Copies> {
  const [source, target] = [resolve(file), resolve(copy)];
  refuseMissing(source, 'command');
  const database = partOf(source, target, databaseSchema);
  const receipts = partOf(receiptsFileOf(source), receiptsFileOf(target), receiptsSchema);
  // Receipts are copied second, so that they are never older than the database.
  const parts = existsSync(receipts.source) ? [database, receipts] : [database];
  const claimed: Part[] = [];
  const cleanUp = () => {
    for (const name of claimed.flatMap(partialFiles)) rmSync(name, { force: true });
  };
  const unregister = onInterrupt(cleanUp);
  try {
    refusePlace(source, target, copy.endsWith('/'));
    refuseLeftovers([database, receipts].flatMap(partialFiles).filter((name) => existsSync(name)));
    for (const part of parts) {
      claim(part);
      claimed.push(part);
    }
    // Checked after the claim: from now on no other backup can create these files.
    for (const part of [database, receipts]) refuseOverwriting(part);
    for (const part of parts) await copyFile(part, environment);
    // The database is renamed last: if its copy exists, the backup is complete.
    for (const part of parts.toReversed()) renameSync(part.partial, part.target);
    flush(dirname(target));
  } catch (error) {
    cleanUp();
    throw explained(error, target);
  } finally {
    unregister();
  }
  return { database: copied(database), ...(parts.includes(receipts) && { receipts: copied(receipts) }) };
}

function partOf(source: string, target: string, schema: FileSchema): Part {
  return { source, target, partial: `${target}.partial`, schema };
}

/** Includes SQLite's journal, which stays behind after a full disk or a kill. */
function partialFiles({ partial }: Part): string[] {
  return [partial, `${partial}-journal`];
}

function copied({ target }: Part): CopiedFile {
  return { file: target, bytes: statSync(target).size };
}

/** Does not create a missing folder: it may be a disk that is not mounted. */
function refusePlace(source: string, target: string, isFolder: boolean): void {
  const folder = isFolder ? target : dirname(target);
  if (!existsSync(folder)) {
    throw new OperatorError(`There is no folder ${folder}: make it, or mount what belongs there.`);
  }
  if (statSync(target, { throwIfNoEntry: false })?.isDirectory()) {
    throw new OperatorError(`${target} is a folder: name a file in it.`);
  }
  // SQLite follows links, and deletes files with these names.
  const place = inRealFolder(target);
  if ([inRealFolder(source), realpathSync(source)].some((name) => place.startsWith(`${name}-`))) {
    throw new OperatorError(`The database keeps its own files under ${source}-…: choose another name.`);
  }
}

function inRealFolder(path: string): string {
  return join(realpathSync(dirname(path)), basename(path));
}

/** Uses lstat, because a rename would also replace a broken link. */
function refuseOverwriting({ target }: Part): void {
  if (lstatSync(target, { throwIfNoEntry: false }) === undefined) return;
  throw new OperatorError(`${target} exists already, and a backup overwrites nothing: choose another name.`);
}

/** Names all leftovers in one error, so that the operator can remove them in one step. */
function refuseLeftovers(names: readonly string[]): void {
  if (names.length === 0) return;
  const [exist, them] = names.length === 1 ? ['exists', 'that file'] : ['exist', 'these files'];
  throw new OperatorError(
    `${names.join(', ')} ${exist} already: a backup is under way, or was interrupted; then remove ${them}.`,
  );
}

/** Creates the partial file, readable only by the owner like the database. Fails if it exists. */
function claim({ partial }: Part): void {
  try {
    closeSync(openSync(partial, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    refuseLeftovers([partial]);
  }
}

/** Copies with a writable connection: a read-only one would leave a write-ahead log behind. */
async function copyFile(part: Part, environment: Environment): Promise<void> {
  try {
    const db = new DatabaseSync(part.source, { timeout: storeBounds.sqliteCommandBusyMs });
    try {
      refuseUnsuitable(db, part, environment);
      await backup(db, part.partial, { rate: pagesOfStep });
    } finally {
      db.close();
    }
    refuseDamage(part);
    flush(part.partial);
  } catch (error) {
    const { errcode = 0, message } = error as Error & { errcode?: number };
    if (damaged.has(errcode & 0xff)) throw damageOf(part, message);
    throw unwritten.has(errcode & 0xff) ? cannotWrite(part.target, message) : error;
  }
}

function refuseUnsuitable(db: DatabaseSync, { schema }: Part, environment: Environment): void {
  const { version, environment: stamped } = stampOf(db, schema) ?? { version: 0, environment };
  if (schema === databaseSchema) refuse(faultOfOldVersion(version, 1));
  refuse(faultOfEnvironment(stamped, environment));
}

/** Checks the copy and not the original, which other processes use. */
function refuseDamage(part: Part): void {
  const db = openToInspect(part.partial);
  try {
    const found = db.prepare('pragma integrity_check').get()?.integrity_check;
    if (found !== 'ok') throw damageOf(part, String(found));
  } finally {
    db.close();
  }
}

/** If the receipts are damaged, the database has already passed the check. */
function damageOf({ source, schema }: Part, what: string): OperatorError {
  const remedy =
    schema === databaseSchema
      ? 'Keep the backups that you have, and restore the newest.'
      : 'The database itself is whole: stop the service, move the receipts aside, start it, back up again.';
  return new OperatorError(`${source} is damaged (${what}): nothing was copied. ${remedy}`);
}

function cannotWrite(target: string, why: string): OperatorError {
  return new OperatorError(`Cannot write ${target}: ${why}.`);
}

/** Writes the file to disk: a backup must survive a power failure. */
function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Turns file errors into a sentence for the operator. */
function explained(error: unknown, target: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const isFileError = /^E[A-Z]+$/.test(code ?? '');
  return isFileError ? cannotWrite(target, message) : translated(error);
}
