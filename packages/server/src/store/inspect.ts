/** What an operator should know of a database, found without changing anything in it. */
import type { Environment } from '@partner-network/contract/environments';
import type { Finding } from '../finding.ts';
import type { ExpiringKeys } from './expiring-keys.ts';
import type { DatabaseAddress } from './open.ts';
import type { Stamp } from './schema.ts';

/** How far this machine's clock is ahead of the database's, and how far that may be wrong either way. */
export interface ClockReading {
  readonly aheadMs: number;
  readonly unsureMs: number;
}

/** Each question is asked after the answer to the one before. */
export interface Inspection {
  /** Nothing when the database is new. */
  stamp(): Promise<Stamp | undefined>;
  readonly currentVersion: number;
  /** Whether serving it brings its schema up to date. */
  readonly migratesItself: boolean;
  /** Whether this process may do with it all that `serve` does. */
  privileges(): Promise<Finding>;
  /** Nothing when the database has no clock but this machine's. */
  clock(nowMs: () => number): Promise<ClockReading | undefined>;
  /** How many instances serve it now; nothing when that cannot be known. */
  instances(): Promise<number | undefined>;
  keysExpiring(after: string, until: string): Promise<ExpiringKeys>;
  /** When the newest of them was made; nothing when there is none. */
  newestCursorKey(): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface Inspected {
  readonly finding: Finding;
  /** When it can be asked more. */
  readonly inspection?: Inspection;
}

/** An engine is loaded when it is used. */
export async function inspectDatabase(
  address: DatabaseAddress,
  environment: Environment,
): Promise<Inspected> {
  if (address.engine === 'sqlite') {
    return (await import('./sqlite/inspect.ts')).inspectSqlite(address.path, environment);
  }
  return (await import('./postgres/inspect.ts')).inspectPostgres(address.urls);
}

/** A finding for each replica. It can be told whose copy it is when the primary can be reached. */
export async function inspectReplicas(
  address: DatabaseAddress,
  replicas: readonly string[],
  environment: Environment,
): Promise<readonly Finding[]> {
  if (replicas.length === 0 || address.engine === 'sqlite') return [];
  const { inspectStandbys } = await import('./postgres/inspect-standbys.ts');
  return inspectStandbys(address.urls, replicas, environment);
}
