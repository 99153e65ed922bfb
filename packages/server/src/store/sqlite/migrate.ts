import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Environment } from '@partner-network/contract/scopes';
import { OperatorError } from '../../operator-error.ts';
import { toTime } from '../../times.ts';
import type { Migration } from '../port.ts';
import { transaction } from './engine.ts';

const folder = new URL('./migrations/', import.meta.url);

/** The n-th file brings version n-1 to version n, so nothing else needs to say which version a file makes. */
const files = readdirSync(folder).sort();

export const currentVersion = files.length;

/** Brings the database to the current schema; safe to run twice, and from many processes at once. */
export function migrate(db: DatabaseSync, environment: Environment): Migration {
  refuseForeign(db, environment);
  if (versionOf(db) === currentVersion) return { from: currentVersion, to: currentVersion };

  db.exec('pragma journal_mode = wal');
  return transaction(db, 'immediate', () => {
    // Asked again under the lock: another process may have been first.
    refuseForeign(db, environment);
    const from = versionOf(db);
    for (const file of files.slice(from)) db.exec(readFileSync(new URL(file, folder), 'utf8'));
    if (from === 0) stamp(db, environment);
    db.exec(`pragma user_version = ${currentVersion}`);
    return { from, to: currentVersion };
  });
}

function versionOf(db: DatabaseSync): number {
  const version = Number(db.prepare('pragma user_version').get()?.user_version);
  if (version > currentVersion) {
    throw new OperatorError(
      `The database has schema ${version} and this program knows up to ${currentVersion}: run the newer program.`,
    );
  }
  return version;
}

/** A new database belongs to one environment for good, and gets the key that seals its cursors. */
function stamp(db: DatabaseSync, environment: Environment): void {
  db.prepare(`insert into settings (name, value) values ('environment', ?)`).run(environment);
  db.prepare('insert into cursor_keys (id, secret, created_at) values (0, ?, ?)').run(
    randomBytes(32),
    toTime(Date.now()),
  );
}

/** Leaves alone what is another program's or another environment's. */
function refuseForeign(db: DatabaseSync, environment: Environment): void {
  if (versionOf(db) === 0) {
    if (db.prepare('select 1 from sqlite_master limit 1').get() === undefined) return;
    throw new OperatorError("This is another program's database: choose another --database.");
  }
  const stamped = db.prepare(`select value from settings where name = 'environment'`).get()?.value;
  if (stamped !== environment) {
    throw new OperatorError(
      `This is a ${stamped} database and ${environment} was asked for: pass --environment ${stamped}, or another --database.`,
    );
  }
}
