/** What the migrations of both engines share: where they are, and which databases they refuse. */
import { readdirSync, readFileSync } from 'node:fs';
import { OperatorError } from '@partner-network/common/operator-error';
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

/** Why a database cannot be used, and what to do about it. */
export interface Fault {
  readonly fact: string;
  readonly remedy: string;
}

/** The error for a database that has a fault. */
export class Refused extends OperatorError {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(`${fault.fact}: ${fault.remedy}.`);
    this.fault = fault;
  }
}

export function refuse(fault: Fault | undefined): void {
  if (fault !== undefined) throw new Refused(fault);
}

/** The schema version, 0 for a new database. Refuses a newer schema and the other environment. */
export function usableVersion(stamp: Stamp | undefined, environment: Environment, current: number): number {
  if (stamp === undefined) return 0;
  refuse(faultOfNewVersion(stamp.version, current));
  refuse(faultOfEnvironment(stamp.environment, environment));
  return stamp.version;
}

export function faultOfNewVersion(version: number, current: number): Fault | undefined {
  if (version <= current) return undefined;
  return {
    fact: `The database has schema ${version}, and this program supports up to ${current}`,
    remedy: 'use the newer version of this program',
  };
}

export function faultOfOldVersion(version: number, current: number): Fault | undefined {
  if (version >= current) return undefined;
  const state =
    version === 0 ? 'has no schema yet' : `has schema ${version}, but this program needs ${current}`;
  return { fact: `The database ${state}`, remedy: 'run "partner-network migrate" first' };
}

export function faultOfEnvironment(stamped: unknown, environment: Environment): Fault | undefined {
  if (stamped === environment) return undefined;
  return {
    fact: `This is a ${stamped} database, but the environment is ${environment}`,
    remedy: `pass --environment ${stamped}, or another --database`,
  };
}

export const notOurs: Fault = {
  fact: 'This database belongs to another program',
  remedy: 'choose another --database',
};
