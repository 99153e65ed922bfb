import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Environment } from '@partner-network/contract/environments';
import { type Finding, failed, ok, warning } from '../../lib/finding.ts';
import type { Inspected } from '../inspection.ts';
import { Refused } from '../sql/schema.ts';
import { attempt, plainSql } from './engine.ts';
import { mayRead, mayWrite, nearestExisting, obstacleTo, openToInspect, receiptsFileOf } from './file.ts';
import { databaseSchema, receiptsSchema, stampOf } from './migrate.ts';

export async function inspectSqlite(file: string, environment: Environment): Promise<Inspected> {
  const path = resolve(file);
  const unopened = faultOfFile(path, environment);
  if (unopened !== undefined) return { finding: unopened, replicas: [] };
  try {
    const db = openToInspect(path);
    const inspection = {
      engine: 'sqlite' as const,
      currentVersion: databaseSchema.current,
      rows: plainSql(db).rows,
      stamp: async () => attempt(db, () => stampOf(db)),
      privileges: async () => privilegesOn(path),
      close: async () => db.close(),
    };
    // The check of the schema reports why the stamp cannot be read.
    const stamp = await inspection.stamp().catch(() => undefined);
    const fault = faultOfReceipts(path, stamp?.environment ?? environment);
    return { finding: fault ?? ok(`The embedded database ${path} can be read.`), replicas: [], inspection };
  } catch (error) {
    const remedy = 'Correct --database, or put a backup in its place.';
    const finding = failed(`Cannot open the database ${path}: ${(error as Error).message}.`, remedy);
    return { finding, replicas: [] };
  }
}

/** Why the file cannot be opened for reading. */
function faultOfFile(path: string, environment: Environment): Finding | undefined {
  const otherUser = 'Correct --database, or run as a user who may.';
  const obstacle = obstacleTo(path);
  if (obstacle !== undefined) return failed(`Cannot look for the database ${path}: ${obstacle}.`, otherUser);
  if (existsSync(path))
    return mayRead(path) ? undefined : failed(`This user may not read ${path}.`, otherUser);
  const receipts = faultOfReceipts(path, environment);
  if (receipts !== undefined) return receipts;
  const place = nearestExisting(path);
  if (!mayWrite(place)) {
    return failed(`There is no database ${path}, and this user may not make one in ${place}.`, otherUser);
  }
  const remedy = '"partner-network migrate" makes it, and so does serving it; is --database right?';
  return warning(`There is no database ${path} yet.`, remedy);
}

/** Why `serve` cannot use the receipts file. A missing file is created; `privilegesOn` checks access. */
function faultOfReceipts(database: string, environment: unknown): Finding | undefined {
  const path = receiptsFileOf(database);
  if (!existsSync(path) || !mayWrite(path)) return undefined;
  const replace =
    'Put a backup in its place, or move it away with what stands beside it: serving makes another.';
  const cannotOpen = (reason: string, remedy = replace) =>
    failed(`Cannot open the receipts ${path}: ${reason}.`, remedy);
  try {
    using db = openToInspect(path);
    const stamp = stampOf(db, receiptsSchema);
    if (stamp === undefined) return undefined;
    if (stamp.version > receiptsSchema.current) {
      const known = `this program knows up to ${receiptsSchema.current}`;
      return cannotOpen(`they have schema ${stamp.version} and ${known}`, 'Run the newer program.');
    }
    if (stamp.environment === environment) return undefined;
    return cannotOpen(`they are of ${stamp.environment}, and the database of ${environment}`);
  } catch (error) {
    return cannotOpen(error instanceof Refused ? error.fault.fact : (error as Error).message);
  }
}

/** `serve` writes to the database, the receipts, and the write-ahead log of each. */
function privilegesOn(path: string): Finding {
  const folder = dirname(path);
  const files = [path, receiptsFileOf(path)].flatMap((file) => [file, `${file}-wal`, `${file}-shm`]);
  const barred = [...files, folder].find((place) => !mayWrite(place));
  if (barred !== undefined) {
    const remedy = 'Run as its owner, or let its owner be this user.';
    return failed(`This user may not write to ${barred}.`, remedy);
  }
  const open = files.find((file) => openMode(file) !== undefined);
  if (open === undefined || openMode(folder) === undefined) {
    return ok('This user may read and write it, and others may not.');
  }
  return warning(
    `Others than its owner may have access to ${open} (mode ${openMode(open)}), and so to balances, or to who asked for them.`,
    'Run chmod 600 on it, and on what stands beside it.',
  );
}

/** The mode of a place to which others than its owner have access, or undefined. */
function openMode(place: string): string | undefined {
  const mode = (statSync(place, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
  return (mode & 0o077) === 0 ? undefined : mode.toString(8);
}
