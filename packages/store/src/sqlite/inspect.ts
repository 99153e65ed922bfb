import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Finding, failed, ok, warning } from '@partner-network/common/finding';
import type { Environment } from '@partner-network/contract/environments';
import type { Inspected, Place } from '../inspection.ts';
import { readLastUses } from '../sql/journal.ts';
import { usableVersion } from '../sql/schema.ts';
import { attempt, createSql } from './engine.ts';
import {
  errorOfWriting,
  mayRead,
  mayWrite,
  nearestExisting,
  obstacleTo,
  openToInspect,
  receiptsFileOf,
  sandboxBeside,
  tryWrite,
} from './file.ts';
import { databaseSchema, receiptsSchema, stampOf } from './migrate.ts';

export async function inspectSqlite(file: string, environment: Environment): Promise<Inspected> {
  const path = resolve(file);
  const replicas: readonly Finding[] = [];
  const disks = placesOf(path);
  const unopened = inspectFile(path, environment);
  if (unopened !== undefined) return { finding: unopened, replicas, disks };
  try {
    const db = openToInspect(path);
    const inspection = {
      engine: 'sqlite' as const,
      currentVersion: databaseSchema.current,
      rows: createSql(db).rows,
      stamp: async () => attempt(db, () => stampOf(db)),
      privileges: async () => privilegesOn(path),
      tryWrite: () => tryWrite(path),
      nodes: async () => ok('The database is on one node, this machine.'),
      lastUses: async (keyIds: readonly string[]) => lastUsesIn(receiptsFileOf(path), keyIds),
      close: async () => db.close(),
    };
    // The check of the schema reports why the stamp cannot be read.
    const stamp = await inspection.stamp().catch(() => undefined);
    const stamped = stamp?.environment as Environment | undefined;
    const receipts = inspectReceipts(path, stamped ?? environment);
    const finding = receipts ?? ok(`The embedded database ${path} can be read.`);
    return { finding, replicas, disks, inspection };
  } catch (error) {
    const remedy = 'Correct --database, or restore a backup.';
    const finding = failed(`Cannot open the database ${path}: ${(error as Error).message}.`, remedy);
    return { finding, replicas, disks };
  }
}

function placesOf(path: string): Place[] {
  const receipts = receiptsFileOf(path);
  return [
    { path: nearestExisting(path), holds: 'the database' },
    { path: nearestExisting(receipts), holds: 'receipts' },
    { path: temporaryFolder(), holds: 'temporary files of imports' },
  ];
}

/** Where SQLite stores the rows of an import that are not sorted: the first of these that can be written. */
function temporaryFolder(): string {
  const { SQLITE_TMPDIR, TMPDIR } = process.env;
  const folders = [SQLITE_TMPDIR, TMPDIR, '/var/tmp', '/usr/tmp', '/tmp'];
  const isUsable = (folder = '') => existsSync(folder) && mayWrite(folder);
  return folders.find(isUsable) ?? '.';
}

async function lastUsesIn(receipts: string, keyIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (!existsSync(receipts)) return new Map();
  using db = openToInspect(receipts);
  return await readLastUses(createSql(db).rows, 'json_each($1)', keyIds);
}

const writableDisk =
  'Mount the disk with write access, or set --database to a path on another disk. ' +
  'A disk can become read-only after an error: see the log of the system.';

/** Why the file cannot be opened for reading. */
function inspectFile(path: string, environment: Environment): Finding | undefined {
  const otherUser = 'Correct --database, or run as a user with access.';
  const obstacle = obstacleTo(path);
  if (obstacle !== undefined) return failed(`Cannot access the database ${path}: ${obstacle}.`, otherUser);
  if (existsSync(path))
    return mayRead(path) ? undefined : failed(`This user may not read ${path}.`, otherUser);
  const receipts = inspectReceipts(path, environment);
  if (receipts !== undefined) return receipts;
  const place = nearestExisting(path);
  const missing = `The database ${path} does not exist`;
  const code = errorOfWriting(place);
  if (code === 'EROFS') return failed(`${missing}, and the disk of ${place} is read-only.`, writableDisk);
  if (code !== undefined) {
    return failed(`${missing}, and this user may not create it in ${place}.`, otherUser);
  }
  const remedy =
    'Check --database. Put a moved file back, and restore a lost one from a backup. ' +
    'Only for a new service, create it with "partner-network migrate".';
  return failed(`${missing}.`, sandboxBeside(path) + remedy);
}

/** Why `serve` cannot use the receipts file. A missing file is created; `privilegesOn` checks access. */
function inspectReceipts(database: string, environment: Environment): Finding | undefined {
  const path = receiptsFileOf(database);
  if (!existsSync(path) || !mayWrite(path)) return undefined;
  try {
    using db = openToInspect(path);
    usableVersion(stampOf(db, receiptsSchema), environment, receiptsSchema.current);
    return undefined;
  } catch (error) {
    const remedy =
      'Or restore a backup of it, or move it and its -wal and -shm files away: serving creates a new one.';
    return failed(`Cannot open the receipts ${path}: ${(error as Error).message}`, remedy);
  }
}

/** `serve` writes to the database, the receipts, and the write-ahead log of each. */
function privilegesOn(path: string): Finding {
  const folder = dirname(path);
  const files = [path, receiptsFileOf(path)].flatMap((file) => [file, `${file}-wal`, `${file}-shm`]);
  const barred = [...files, folder].find((place) => !mayWrite(place));
  if (barred !== undefined && errorOfWriting(barred) === 'EROFS') {
    return failed(`The disk of ${barred} is mounted read-only, so serve cannot start.`, writableDisk);
  }
  if (barred !== undefined) {
    const remedy = 'Run as its owner, or make this user its owner.';
    return failed(`This user may not write to ${barred}.`, remedy);
  }
  const open = files.find((file) => openMode(file) !== undefined);
  if (open === undefined || openMode(folder) === undefined) {
    return ok('This user can read and write it, and other users cannot.');
  }
  return warning(
    `Other users may have access to ${open} (mode ${openMode(open)}), which contains balances or receipts.`,
    'Run chmod 600 on the database and on all files whose names start with its name.',
  );
}

/** The mode of a place that others can access. Undefined if only its owner can. */
function openMode(place: string): string | undefined {
  const mode = (statSync(place, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
  return (mode & 0o077) === 0 ? undefined : mode.toString(8);
}
