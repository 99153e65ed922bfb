/** A copy of the embedded database and of its receipts, while others read and write them. */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import type { Environment } from '@partner-network/contract/environments';
import { bounds } from '../../bounds.ts';
import { OperatorError } from '../../operator-error.ts';
import { faultOfEnvironment, faultOfOldVersion, refuse } from '../schema.ts';
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

/** Nothing is migrated: a copy from before an upgrade is one that the older program can read. */
export async function backUpSqlite(file: string, environment: Environment, copy: string): Promise<Copies> {
  const [source, target] = [resolve(file), resolve(copy)];
  refuseMissing(source, 'command');
  refusePlace(source, target);
  const database = partOf(source, target, databaseSchema);
  const receipts = partOf(receiptsFileOf(source), receiptsFileOf(target), receiptsSchema);
  // The receipts come second, so that they are never older than what they tell of.
  const parts = existsSync(receipts.source) ? [database, receipts] : [database];
  const claimed: Part[] = [];
  try {
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
    for (const { partial } of claimed) rmSync(partial, { force: true });
    throw explained(error, target);
  }
  return { database: copied(database), ...(parts.includes(receipts) && { receipts: copied(receipts) }) };
}

function partOf(source: string, target: string, schema: FileSchema): Part {
  return { source, target, partial: `${target}.partial`, schema };
}

function copied({ target }: Part): CopiedFile {
  return { file: target, bytes: statSync(target).size };
}

/** A folder that is missing may be a disk that is not mounted, so none is made. */
function refusePlace(source: string, target: string): void {
  if (!existsSync(dirname(target))) {
    throw new OperatorError(`There is no folder ${dirname(target)}: make it, or mount what belongs there.`);
  }
  if (target.startsWith(`${source}-`)) {
    throw new OperatorError(`The database keeps its own files under ${source}-…: choose another name.`);
  }
}

function refuseOverwriting({ target }: Part): void {
  if (!existsSync(target)) return;
  throw new OperatorError(`${target} exists already, and a backup overwrites nothing: choose another name.`);
}

/** For the owner alone, as what it is a copy of. */
function claim({ partial }: Part): void {
  try {
    closeSync(openSync(partial, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new OperatorError(
      `${partial} exists already: a backup is under way, or was interrupted; then remove that file.`,
    );
  }
}

/** A connection that may write, like those of all commands: one that only reads would leave a log behind. */
async function copyWhole(part: Part, environment: Environment): Promise<void> {
  try {
    const db = new DatabaseSync(part.source, { timeout: bounds.sqliteCommandBusyMs });
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
    throw damaged.has(errcode & 0xff) ? damageOf(part, message) : error;
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

function damageOf({ source }: Part, what: string): OperatorError {
  return new OperatorError(
    `${source} is damaged (${what}): nothing was copied. Keep the backups that you have, and restore the newest.`,
  );
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
  return isOfFiles ? new OperatorError(`Cannot write ${target}: ${message}.`) : translated(error);
}
