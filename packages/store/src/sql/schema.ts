/** What the migrations of both engines share: where they are, and which databases they reject. */
import { readdirSync, readFileSync } from 'node:fs';
import { OperatorError } from '@partner-network/common/errors';
import { type Finding, failed } from '@partner-network/common/finding';
import type { Environment } from '@partner-network/contract/environments';

export type Migrations = ReturnType<typeof migrationsIn>;

export function migrationsIn(folder: URL) {
  const files = readdirSync(folder).sort();
  // The script at index n brings version n to version n + 1.
  const scripts = files.map((file) => () => readFileSync(new URL(file, folder), 'utf8'));
  return { scripts, current: files.length };
}

/** The environment and schema version that our databases store. */
export interface Stamp {
  readonly environment: unknown;
  readonly version: number;
}

/** A database that cannot be used: what is wrong with it, and what to do about it. */
export class Unusable extends OperatorError {
  readonly fact: string;
  readonly remedy: string;

  constructor(fact: string, remedy: string) {
    super(`${fact}: ${remedy}.`);
    this.fact = fact;
    this.remedy = remedy;
  }

  /** What `doctor` reports. `before` is the beginning of the remedy. */
  finding(before = ''): Finding {
    const remedy = `${before}${this.remedy}.`;
    return failed(`${this.fact}.`, remedy.charAt(0).toUpperCase() + remedy.slice(1));
  }
}

/** The schema version, 0 for a new database. Rejects a newer schema and the other environment. */
export function usableVersion(stamp: Stamp | undefined, environment: Environment, current: number): number {
  if (stamp === undefined) return 0;
  requireKnown(stamp.version, current);
  requireEnvironment(stamp.environment, environment);
  return stamp.version;
}

/** Rejects a schema of a newer program. */
export function requireKnown(version: number, current: number): void {
  if (version <= current) return;
  throw new Unusable(
    `The database has schema ${version}, and this program supports up to ${current}`,
    'use the newer version of this program',
  );
}

/** Rejects a schema that has to be updated first. */
export function requireUpdated(version: number, current: number): void {
  if (version >= current) return;
  const state =
    version === 0 ? 'has no schema yet' : `has schema ${version}, but this program needs ${current}`;
  throw new Unusable(`The database ${state}`, 'run "partner-network migrate" first');
}

export function requireEnvironment(stamped: unknown, environment: Environment): void {
  if (stamped === environment) return;
  throw new Unusable(
    `This is a ${stamped} database, but the environment is ${environment}`,
    `pass --environment ${stamped}, or another --database`,
  );
}

export function requireOurs(isOurs: boolean): void {
  if (!isOurs) throw new Unusable('This database belongs to another program', 'choose another --database');
}
