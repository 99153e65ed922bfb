import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Environment } from '@partner-network/contract/environments';
import { toTime } from '../../lib/times.ts';
import type { Migration } from '../port.ts';
import {
  faultOfEnvironment,
  faultOfVersion,
  type Migrations,
  migrationsIn,
  refuse,
  type Stamp,
  stranger,
} from '../sql/schema.ts';
import { transaction } from './engine.ts';

/** What a file of ours holds. */
export interface FileSchema extends Migrations {
  /** SQLite keeps it in the file, for the programs that care whose it is. */
  readonly applicationId: number;
  /** What a new file gets besides its environment. */
  fill(db: DatabaseSync): void;
}

/** "PNet". It gets the key that seals its cursors. */
export const databaseSchema: FileSchema = {
  ...migrationsIn(new URL('./migrations/', import.meta.url)),
  applicationId: 0x504e6574,
  fill: (db) => {
    db.prepare('insert into cursor_keys (id, secret, created_at) values (0, ?, ?)').run(
      randomBytes(32),
      toTime(Date.now()),
    );
  },
};

/** "PNre". */
export const receiptsSchema: FileSchema = {
  ...migrationsIn(new URL('./receipts-migrations/', import.meta.url)),
  applicationId: 0x504e7265,
  fill: () => {},
};

/** Brings the database to the current schema; safe to run twice, and from many processes at once. */
export function migrate(
  db: DatabaseSync,
  environment: Environment,
  schema: FileSchema = databaseSchema,
): Migration {
  const { scripts, current } = schema;
  const version = versionOf(db, environment, schema);
  // The file keeps it, but a copy made by vacuum has lost it.
  db.exec('pragma journal_mode = wal');
  if (version === current) return { from: version, to: version };

  return transaction(db, 'immediate', () => {
    // Asked again under the lock: another process may have been first.
    const from = versionOf(db, environment, schema);
    for (const script of scripts.slice(from)) db.exec(script());
    if (from === 0) stamp(db, environment, schema);
    db.exec(`pragma user_version = ${current}`);
    return { from, to: current };
  });
}

/** The version of the schema, 0 for a new database. Refuses what is not ours to touch. */
function versionOf(db: DatabaseSync, environment: Environment, schema: FileSchema): number {
  const stamp = stampOf(db, schema);
  if (stamp === undefined) return 0;
  refuse(faultOfVersion(stamp, schema.current));
  refuse(faultOfEnvironment(stamp.environment, environment));
  return stamp.version;
}

/** What the database says of itself; nothing when it is new. Refuses another program's. */
export function stampOf(db: DatabaseSync, schema: FileSchema = databaseSchema): Stamp | undefined {
  // In one statement, so that no migration of another process comes between.
  const seen = db.prepare(`
    select user_version as version, application_id as owner, exists (select 1 from sqlite_master) as used
    from pragma_user_version, pragma_application_id`);
  const { version, owner, used } = seen.get() as { version: number; owner: number; used: number };
  if (version === 0 && owner === 0 && used === 0) return undefined;
  if (owner !== schema.applicationId) refuse(stranger);
  const row = db.prepare(`select value from settings where name = 'environment'`).get();
  return { environment: row?.value, version };
}

/** A new database belongs to us and one environment for good. */
function stamp(db: DatabaseSync, environment: Environment, { applicationId, fill }: FileSchema): void {
  db.exec(`pragma application_id = ${applicationId}`);
  db.prepare(`insert into settings (name, value) values ('environment', ?)`).run(environment);
  fill(db);
}
