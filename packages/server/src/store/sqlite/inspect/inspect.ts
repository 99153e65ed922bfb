import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Environment } from '@partner-network/contract/environments';
import { type Finding, failed, ok, warning } from '../../../lib/finding.ts';
import type { Inspected, Inspection } from '../../inspection.ts';
import { newestCursorKey } from '../../sql/cursor-keys.ts';
import { expiringKeys } from '../../sql/expiring-keys.ts';
import { plainSql, translated } from '../engine.ts';
import { openToLook, receiptsFileOf } from '../file.ts';
import { databaseSchema, stampOf } from '../migrate.ts';
import { barTo, mayRead, mayWrite, nearestSeen } from '../place.ts';
import { faultyReceipts } from './receipts.ts';

export function inspectSqlite(file: string, environment: Environment): Inspected {
  const path = resolve(file);
  const bar = barTo(path);
  if (bar !== undefined)
    return { finding: failed(`Cannot look for the database ${path}: ${bar}.`, otherUser) };
  if (!existsSync(path)) return { finding: faultyReceipts(path, environment) ?? yetToBeMade(path) };
  if (!mayRead(path)) return { finding: failed(`This user may not read ${path}.`, otherUser) };
  try {
    const db = openToLook(path);
    const finding =
      faultyReceipts(path, environmentOf(db) ?? environment) ??
      ok(`The embedded database ${path} can be read.`);
    return { finding, inspection: inspectionOf(db, path) };
  } catch (error) {
    const remedy = 'Correct --database, or put a backup in its place.';
    return {
      finding: failed(`Cannot open the database ${path}: ${(error as Error).message}.`, remedy),
    };
  }
}

const otherUser = 'Correct --database, or run as a user who may.';

function yetToBeMade(path: string): Finding {
  const place = nearestSeen(path);
  if (!mayWrite(place)) {
    return failed(`There is no database ${path}, and this user may not make one in ${place}.`, otherUser);
  }
  const remedy = '"partner-network migrate" makes it, and so does serving it; is --database right?';
  return warning(`There is no database ${path} yet.`, remedy);
}

function inspectionOf(db: DatabaseSync, path: string): Inspection {
  return {
    stamp: () => inOurTerms(async () => stampOf(db)),
    currentVersion: databaseSchema.current,
    migratesItself: true,
    privileges: async () => privilegesOn(path),
    clock: async () => undefined,
    instances: async () => undefined,
    keysExpiring: (after, until) => inOurTerms(() => expiringKeys(plainSql(db).rows, after, until)),
    newestCursorKey: () => inOurTerms(() => newestCursorKey(plainSql(db).rows)),
    close: async () => db.close(),
  };
}

/** What keeps it from being read is told by the check of the schema. */
function environmentOf(db: DatabaseSync): unknown {
  try {
    return stampOf(db)?.environment;
  } catch {
    return undefined;
  }
}

async function inOurTerms<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw translated(error);
  }
}

/** To serve it is to write to it, too: its schema, its receipts, and the log beside each of them. */
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
  const open = files.find(isOpen);
  if (open !== undefined && isOpen(folder)) {
    return warning(
      `Others than its owner may have access to ${open} (mode ${modeOf(open).toString(8)}), and so to balances, or to who asked for them.`,
      'Run chmod 600 on it, and on what stands beside it.',
    );
  }
  return ok('This user may read and write it, and others may not.');
}

const others = 0o077;

function isOpen(place: string): boolean {
  return (modeOf(place) & others) !== 0;
}

/** None for what is not there. */
function modeOf(place: string): number {
  return (statSync(place, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
}
