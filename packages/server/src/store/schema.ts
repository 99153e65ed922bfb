/** What the engines' migrations share: where they are, and what they refuse. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Environment } from '@partner-network/contract/environments';
import { OperatorError } from '../operator-error.ts';

export interface Migrations {
  /** The n-th brings version n-1 to version n, so nothing else needs to say which version a file makes. */
  readonly scripts: readonly (() => string)[];
  readonly current: number;
}

export function migrationsIn(folder: URL): Migrations {
  const files = readdirSync(folder).sort();
  return {
    scripts: files.map((file) => () => readFileSync(new URL(file, folder), 'utf8')),
    current: files.length,
  };
}

export function refuseNewer(version: number, current: number): void {
  if (version > current) {
    throw new OperatorError(
      `The database has schema ${version} and this program knows up to ${current}: run the newer program.`,
    );
  }
}

export function refuseOtherEnvironment(stamped: unknown, environment: Environment): void {
  if (stamped !== environment) {
    throw new OperatorError(
      `This is a ${stamped} database and ${environment} was asked for: pass --environment ${stamped}, or another --database.`,
    );
  }
}

export function refuseStranger(isOurs: boolean): void {
  if (!isOurs) throw new OperatorError("This is another program's database: choose another --database.");
}
