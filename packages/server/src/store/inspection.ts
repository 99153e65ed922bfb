/** What `doctor` reads of a database, without changing anything in it. */
import type { Finding } from '../lib/finding.ts';
import type { Stamp } from './sql/schema.ts';

export interface ClockReading {
  /** How far this machine's clock is ahead of the database's. */
  readonly aheadMs: number;
  /** The reading may be wrong by this much either way. */
  readonly unsureMs: number;
}

export interface ExpiringKey {
  readonly id: string;
  readonly partner_id: string;
  readonly name: string | null;
  readonly expires_at: string;
  /** Whether a newer key can take its place, as after a rotation. */
  readonly isReplaced: boolean;
}

export interface ExpiringKeys {
  readonly count: number;
  /** How many of them have no replacement. */
  readonly unreplaced: number;
  /** The first few: keys without a replacement first, then by expiry. */
  readonly first: readonly ExpiringKey[];
}

/** Call one method at a time. */
export interface Inspection {
  /** Undefined if the database is new. */
  stamp(): Promise<Stamp | undefined>;
  readonly currentVersion: number;
  /** Whether `serve` updates the schema. */
  readonly migratesItself: boolean;
  /** Whether this process has every privilege that `serve` needs. */
  privileges(): Promise<Finding>;
  /** Undefined if the database uses this machine's clock. */
  clock(nowMs: () => number): Promise<ClockReading | undefined>;
  /** The number of instances that serve the database now, or undefined if that is unknown. */
  instances(): Promise<number | undefined>;
  keysExpiring(after: string, until: string): Promise<ExpiringKeys>;
  /** Creation time of the newest cursor key, or undefined if there is no key. */
  newestCursorKey(): Promise<string | undefined>;
  close(): Promise<void>;
}

export interface Inspected {
  readonly finding: Finding;
  /** Set if the database could be opened. */
  readonly inspection?: Inspection;
}
