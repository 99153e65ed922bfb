/** What an operator should know of a database, found without changing anything in it. */
import type { Finding } from '../lib/finding.ts';
import type { ExpiringKeys } from './sql/expiring-keys.ts';
import type { Stamp } from './sql/schema.ts';

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
