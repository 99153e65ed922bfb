import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { bounds } from '../../bounds.ts';
import { type Finding, failed, ok, warning } from '../../finding.ts';
import { expiringKeys } from '../expiring-keys.ts';
import type { Inspected, Inspection } from '../inspect.ts';
import { plainSql, translated } from './engine.ts';
import { databaseSchema, stampOf } from './migrate.ts';
import { barTo, mayRead, mayWrite, nearestSeen } from './place.ts';

export function inspectSqlite(file: string): Inspected {
  const path = resolve(file);
  const bar = barTo(path);
  if (bar !== undefined)
    return { finding: failed(`Cannot look for the database ${path}: ${bar}.`, otherUser) };
  if (!existsSync(path)) return { finding: yetToBeMade(path) };
  if (!mayRead(path)) return { finding: failed(`This user may not read ${path}.`, otherUser) };
  try {
    const db = openToLook(path);
    return { finding: ok(`The embedded database ${path} can be read.`), inspection: inspectionOf(db, path) };
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

/**
 * Where there is no log beside the file nobody has it open, and even a connection that only reads would make
 * one and leave it there, as this user's. Unless it takes the file for one that cannot change.
 */
function openToLook(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1');
  const db = new DatabaseSync(url, { readOnly: true, timeout: bounds.sqliteServeBusyMs });
  try {
    db.prepare('select count(*) from sqlite_master').get();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
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
    close: async () => db.close(),
  };
}

async function inOurTerms<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw translated(error);
  }
}

/** To serve it is to write to it, too: its schema, and the log beside it. */
function privilegesOn(path: string): Finding {
  const folder = dirname(path);
  const barred = [path, folder].find((place) => !mayWrite(place));
  if (barred !== undefined) {
    return failed(
      `This user may not write to ${barred}.`,
      'Run as its owner, or let its owner be this user.',
    );
  }
  const others = 0o077;
  const isOpen = (place: string) => (statSync(place).mode & others) !== 0;
  if (isOpen(path) && isOpen(folder)) {
    const mode = (statSync(path).mode & 0o777).toString(8);
    return warning(
      `Others than its owner may have access to ${path} (mode ${mode}), in which people's balances are.`,
      `Run chmod 600 on it, and on what stands beside it.`,
    );
  }
  return ok('This user may read and write it, and others may not.');
}
