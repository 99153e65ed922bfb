import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { storeBounds } from '@partner-network/common/bounds/store';
import { toTime } from '@partner-network/common/times';
import type { Environment } from '@partner-network/contract/environments';
import type { OpenOptions } from '../address.ts';
import { type Migration, StoreLocked } from '../port.ts';
import {
  type Migrations,
  migrationsIn,
  requireOurs,
  requireUpdated,
  type Stamp,
  usableVersion,
} from '../sql/schema.ts';
import { allowRelease } from './disk-space.ts';
import { transaction, translated } from './engine.ts';
import { isReadOnly, openFile, openToInspect } from './file.ts';

/** One of the two kinds of database files. */
interface FileSchema extends Migrations {
  /** Stored in the file header, to recognize our files. */
  readonly applicationId: number;
  /** A setting of a new file. */
  readonly setting?: string;
  /** Adds the first rows of a new file. */
  fill?(db: DatabaseSync): void;
}

export const databaseSchema: FileSchema = {
  ...migrationsIn(new URL('./migrations/', import.meta.url)),
  // "PNet".
  applicationId: 0x504e6574,
  fill: (db) => {
    const insert = db.prepare('insert into cursor_keys (id, secret, created_at) values (0, ?, ?)');
    insert.run(randomBytes(32), toTime(Date.now()));
  },
};

export const receiptsSchema: FileSchema = {
  ...migrationsIn(new URL('./receipts-migrations/', import.meta.url)),
  // "PNre".
  applicationId: 0x504e7265,
  // Before the first table: later it needs a vacuum.
  setting: allowRelease,
};

/** Opens a file and brings it to the current schema, unless it must be kept or can only be read. */
export function openCurrent(
  path: string,
  environment: Environment,
  options: OpenOptions,
  schema: FileSchema,
  mayCreate: boolean,
) {
  const cannotWrite = isReadOnly(path, options);
  const db = cannotWrite ? openToInspect(path, storeBounds.sqliteCommandBusyMs) : openFile(path, options);
  try {
    const migration =
      cannotWrite || options.schema === 'keep'
        ? requireCurrent(db, environment, schema)
        : migrate(db, environment, schema, mayCreate);
    return { db, migration };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Brings the database to the current schema. Safe to run twice, and in many processes at once. */
export function migrate(
  db: DatabaseSync,
  environment: Environment,
  schema: FileSchema = databaseSchema,
  mayCreate = true,
): Migration {
  const { scripts, current, setting } = schema;
  const readVersion = () => usableVersion(stampOf(db, schema), environment, current);
  const version = readVersion();
  if (!mayCreate) requireUpdated(version, 1);
  // A setting writes to the file even if it changes nothing, and a list must not write.
  if (version === 0 && setting !== undefined) db.exec(setting);
  writeAhead(db);
  if (version === current) return { from: version, to: version };

  return transaction(db, 'immediate', () => {
    // Read again under the lock: another process may have migrated meanwhile.
    const from = readVersion();
    for (const script of scripts.slice(from)) db.exec(script());
    if (from === 0) stamp(db, environment, schema);
    db.exec(`pragma user_version = ${current}`);
    return { from, to: current };
  });
}

/** Turns the write-ahead log on. The file stores this mode, but a copy made by vacuum does not have it. */
function writeAhead(db: DatabaseSync): void {
  try {
    db.exec('pragma journal_mode = wal');
  } catch (error) {
    if (!(translated(error) instanceof StoreLocked)) throw error;
    // The pragma does not wait for another process that writes. The transaction does. It is exclusive, to
    // fail if another process keeps reading: an immediate one would succeed, and this would repeat forever.
    db.exec('begin exclusive; commit');
    writeAhead(db);
  }
}

/** Rejects a file that is not at the current schema, and changes nothing. */
function requireCurrent(db: DatabaseSync, environment: Environment, schema: FileSchema): Migration {
  const version = usableVersion(stampOf(db, schema), environment, schema.current);
  requireUpdated(version, schema.current);
  return { from: version, to: version };
}

/** What the database stores about itself, or undefined if it is new. Throws on another program's file. */
export function stampOf(db: DatabaseSync, schema: FileSchema = databaseSchema): Stamp | undefined {
  // One statement, so that a migration in another process cannot come between.
  const seen = db.prepare(`
    select user_version as version, application_id as owner, exists (select 1 from sqlite_master) as used
    from pragma_user_version, pragma_application_id`);
  const { version, owner, used } = seen.get() as { version: number; owner: number; used: number };
  if (version === 0 && owner === 0 && used === 0) return undefined;
  requireOurs(owner === schema.applicationId);
  const row = db.prepare(`select value from settings where name = 'environment'`).get();
  return { environment: row?.value, version };
}

/** Marks a new database as ours, and binds it to one environment. Both marks never change. */
function stamp(db: DatabaseSync, environment: Environment, { applicationId, fill }: FileSchema): void {
  db.exec(`pragma application_id = ${applicationId}`);
  db.prepare(`insert into settings (name, value) values ('environment', ?)`).run(environment);
  fill?.(db);
}
