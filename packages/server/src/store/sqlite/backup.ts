/** A copy of the embedded database and of its receipts, while others read and write them. */
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
import { openToLook, receiptsFileOf } from './file.ts';
import { databaseSchema, type FileSchema, receiptsSchema, stampOf } from './migrate.ts';
import { refuseMissing } from './open.ts';

interface CopiedFile {
  readonly file: string;
  readonly bytes: number;
}

interface Copies {
  readonly database: CopiedFile;
  /** There are none where nobody has served yet. */
  readonly receipts?: CopiedFile;
}

interface Part {
  readonly source: string;
  readonly target: string;
  /** Its name until all of it is there. */
  readonly partial: string;
  readonly schema: FileSchema;
}

/** In one step it sees one moment. In several it would begin anew each time that somebody writes. */
const pagesOfStep = 2 ** 31 - 1;
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const damaged = new Set([11, 26]);
/** SQLITE_IOERR and SQLITE_FULL. */
const unwritten = new Set([10, 13]);

/** Calls back before a signal ends the process, until the function that it gives is called. */
type OnInterrupt = (cleanUp: () => void) => () => void;

/** Nothing is migrated: a copy from before an upgrade is one that the older program can read. */
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
  // The receipts come second, so that they are never older than what they tell of.
  const parts = existsSync(receipts.source) ? [database, receipts] : [database];
  const claimed: Part[] = [];
  const cleanUp = () => {
    for (const name of claimed.flatMap(partialFiles)) rmSync(name, { force: true });
  };
  const goOn = onInterrupt(cleanUp);
  try {
    refusePlace(source, target, copy.endsWith('/'));
    refuseLeftovers([database, receipts].flatMap(partialFiles).filter((name) => existsSync(name)));
    for (const part of parts) {
      claim(part);
      claimed.push(part);
    }
    // Only now: who has claimed the names is the only one that can make these files.
    for (const part of [database, receipts]) refuseOverwriting(part);
    for (const part of parts) await copyWhole(part, environment);
    // The database comes last: where its copy is, everything is.
    for (const part of parts.toReversed()) renameSync(part.partial, part.target);
    flush(dirname(target));
  } catch (error) {
    cleanUp();
    throw explained(error, target);
  } finally {
    goOn();
  }
  return { database: copied(database), ...(parts.includes(receipts) && { receipts: copied(receipts) }) };
}

function partOf(source: string, target: string, schema: FileSchema): Part {
  return { source, target, partial: `${target}.partial`, schema };
}

/** With the engine's own, which it leaves behind where the disk is full, or the process is killed. */
function partialFiles({ partial }: Part): string[] {
  return [partial, `${partial}-journal`];
}

function copied({ target }: Part): CopiedFile {
  return { file: target, bytes: statSync(target).size };
}

/** A folder that is missing may be a disk that is not mounted, so none is made. */
function refusePlace(source: string, target: string, isFolder: boolean): void {
  const folder = isFolder ? target : dirname(target);
  if (!existsSync(folder)) {
    throw new OperatorError(`There is no folder ${folder}: make it, or mount what belongs there.`);
  }
  if (statSync(target, { throwIfNoEntry: false })?.isDirectory()) {
    throw new OperatorError(`${target} is a folder: name a file in it.`);
  }
  // The engine follows links, and removes what it takes for its own.
  const place = inRealFolder(target);
  if ([inRealFolder(source), realpathSync(source)].some((name) => place.startsWith(`${name}-`))) {
    throw new OperatorError(`The database keeps its own files under ${source}-…: choose another name.`);
  }
}

function inRealFolder(path: string): string {
  return join(realpathSync(dirname(path)), basename(path));
}

/** A link that leads nowhere would be replaced, too. */
function refuseOverwriting({ target }: Part): void {
  if (lstatSync(target, { throwIfNoEntry: false }) === undefined) return;
  throw new OperatorError(`${target} exists already, and a backup overwrites nothing: choose another name.`);
}

/** All at once: who removes one after the other learns of the next each time. */
function refuseLeftovers(names: readonly string[]): void {
  if (names.length === 0) return;
  const [exist, them] = names.length === 1 ? ['exists', 'that file'] : ['exist', 'these files'];
  throw new OperatorError(
    `${names.join(', ')} ${exist} already: a backup is under way, or was interrupted; then remove ${them}.`,
  );
}

/** For the owner alone, as what it is a copy of. */
function claim({ partial }: Part): void {
  try {
    closeSync(openSync(partial, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    refuseLeftovers([partial]);
  }
}

/** A connection that may write, like those of all commands: one that only reads would leave a log behind. */
async function copyWhole(part: Part, environment: Environment): Promise<void> {
  try {
    const db = new DatabaseSync(part.source, { timeout: storeBounds.sqliteCommandBusyMs });
    try {
      refuseOther(db, part, environment);
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

function refuseOther(db: DatabaseSync, { schema }: Part, environment: Environment): void {
  const { version, environment: stamped } = stampOf(db, schema) ?? { version: 0, environment };
  if (schema === databaseSchema) refuse(faultOfOldVersion(version, 1));
  refuse(faultOfEnvironment(stamped, environment));
}

/** Asked of the copy, which nobody waits for. */
function refuseDamage(part: Part): void {
  const db = openToLook(part.partial);
  try {
    const found = db.prepare('pragma integrity_check').get()?.integrity_check;
    if (found !== 'ok') throw damageOf(part, String(found));
  } finally {
    db.close();
  }
}

/** The database was copied before its receipts, and found to be whole. */
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

/** To the disk: a backup that is only in memory would be lost with what it is for. */
function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** What an operator can mend is a sentence. */
function explained(error: unknown, target: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const isOfFiles = /^E[A-Z]+$/.test(code ?? '');
  return isOfFiles ? cannotWrite(target, message) : translated(error);
}
