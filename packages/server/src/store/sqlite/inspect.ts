import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Environment } from '@partner-network/contract/environments';
import { type Finding, failed, ok, warning } from '../../lib/finding.ts';
import type { Inspected, Inspection } from '../inspection.ts';
import { newestCursorKey } from '../sql/cursor-keys.ts';
import { expiringKeys } from '../sql/keys.ts';
import { Refused } from '../sql/schema.ts';
import { attempt, plainSql } from './engine.ts';
import { mayRead, mayWrite, nearestExisting, obstacleTo, openToInspect, receiptsFileOf } from './file.ts';
import { databaseSchema, receiptsSchema, stampOf } from './migrate.ts';

export function inspectSqlite(file: string, environment: Environment): Inspected {
  const path = resolve(file);
  const obstacle = obstacleTo(path);
  if (obstacle !== undefined) {
    return { finding: failed(`Cannot look for the database ${path}: ${obstacle}.`, otherUser) };
  }
  if (!existsSync(path)) return { finding: faultyReceipts(path, environment) ?? missing(path) };
  if (!mayRead(path)) return { finding: failed(`This user may not read ${path}.`, otherUser) };
  try {
    const db = openToInspect(path);
    const finding =
      faultyReceipts(path, environmentOf(db) ?? environment) ??
      ok(`The embedded database ${path} can be read.`);
    return { finding, inspection: inspectionOf(db, path) };
  } catch (error) {
    const remedy = 'Correct --database, or put a backup in its place.';
    return { finding: failed(`Cannot open the database ${path}: ${(error as Error).message}.`, remedy) };
  }
}

const otherUser = 'Correct --database, or run as a user who may.';

function missing(path: string): Finding {
  const place = nearestExisting(path);
  if (!mayWrite(place)) {
    return failed(`There is no database ${path}, and this user may not make one in ${place}.`, otherUser);
  }
  const remedy = '"partner-network migrate" makes it, and so does serving it; is --database right?';
  return warning(`There is no database ${path} yet.`, remedy);
}

function inspectionOf(db: DatabaseSync, path: string): Inspection {
  const { rows } = plainSql(db);
  return {
    stamp: async () => attempt(db, () => stampOf(db)),
    currentVersion: databaseSchema.current,
    migratesItself: true,
    privileges: async () => privilegesOn(path),
    clock: async () => undefined,
    instances: async () => undefined,
    keysExpiring: (after, until) => expiringKeys(rows, after, until),
    newestCursorKey: () => newestCursorKey(rows),
    close: async () => db.close(),
  };
}

/** Undefined if the database cannot be read: the check of the schema reports that. */
function environmentOf(db: DatabaseSync): unknown {
  try {
    return stampOf(db)?.environment;
  } catch {
    return undefined;
  }
}

const replaceReceipts =
  'Put a backup in its place, or move it away with what stands beside it: serving makes another.';

/** Why `serve` cannot use the receipts file. A missing file is created; `privilegesOn` checks access. */
function faultyReceipts(database: string, environment: unknown): Finding | undefined {
  const path = receiptsFileOf(database);
  if (!existsSync(path) || !mayWrite(path)) return undefined;
  const cannotOpen = (reason: string, remedy: string) =>
    failed(`Cannot open the receipts ${path}: ${reason}.`, remedy);
  let db: DatabaseSync | undefined;
  try {
    db = openToInspect(path);
    const stamp = stampOf(db, receiptsSchema);
    if (stamp === undefined) return undefined;
    if (stamp.version > receiptsSchema.current) {
      const known = `this program knows up to ${receiptsSchema.current}`;
      return cannotOpen(`they have schema ${stamp.version} and ${known}`, 'Run the newer program.');
    }
    if (stamp.environment === environment) return undefined;
    return cannotOpen(
      `they are of ${stamp.environment}, and the database of ${environment}`,
      replaceReceipts,
    );
  } catch (error) {
    const reason = error instanceof Refused ? error.fault.fact : (error as Error).message;
    return cannotOpen(reason, replaceReceipts);
  } finally {
    db?.close();
  }
}

/** `serve` writes to the database, the receipts, and the write-ahead log of each. */
function privilegesOn(path: string): Finding {
  const folder = dirname(path);
  const files = [path, receiptsFileOf(path)].flatMap((file) => [file, `${file}-wal`, `${file}-shm`]);
  const barred = [...files, folder].find((place) => !mayWrite(place));
  if (barred !== undefined) {
    return failed(
      `This user may not write to ${barred}.`,
      'Run as its owner, or let its owner be this user.',
    );
  }
  const open = files.find(isOpenToOthers);
  if (open !== undefined && isOpenToOthers(folder)) {
    return warning(
      `Others than its owner may have access to ${open} (mode ${modeOf(open).toString(8)}), and so to balances, or to who asked for them.`,
      'Run chmod 600 on it, and on what stands beside it.',
    );
  }
  return ok('This user may read and write it, and others may not.');
}

function isOpenToOthers(place: string): boolean {
  return (modeOf(place) & 0o077) !== 0;
}

/** 0 if the file does not exist. */
function modeOf(place: string): number {
  return (statSync(place, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
}
