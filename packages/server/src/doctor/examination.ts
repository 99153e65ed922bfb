import { type Finding, skipped } from '../lib/finding.ts';
import type { RedisInspected } from '../limiter/redis/inspect.ts';
import type { ServeConfig } from '../serve/settings.ts';
import type { Inspected, Inspection } from '../store/inspection.ts';
import type { Stamp } from '../store/sql/schema.ts';

/** What checks are made from. Servers are looked at from the start, all at once. */
export interface Examination {
  readonly config: ServeConfig;
  readonly nowMs: () => number;
  /** How many files this process may have open; nothing where the system has no such limit. */
  readonly openFiles: number | undefined;
  readonly database: Promise<Inspected>;
  readonly replicas: Promise<readonly Finding[]>;
  /** Nothing without a Redis in the settings. */
  readonly redis: Promise<RedisInspected | undefined>;
}

/** One thing to look at. It throws what it cannot explain. */
export type Check = (examination: Examination) => Promise<Finding>;

/** A check of what is inside the database, which is skipped when that cannot be looked at. */
export function insideDatabase(
  check: (inspection: Inspection, examination: Examination) => Promise<Finding>,
): Check {
  return async (examination) => {
    const { inspection } = await examination.database;
    if (inspection === undefined) return skipped('The database cannot be looked into.');
    return check(inspection, examination);
  };
}

/** The same for one of what only a database of ours has. */
export function insideOurDatabase(
  check: (found: { inspection: Inspection; stamp: Stamp }, examination: Examination) => Promise<Finding>,
): Check {
  return insideDatabase(async (inspection, examination) => {
    // What keeps it from being read is told by the check of the schema.
    const stamp = await inspection.stamp().catch(() => undefined);
    if (stamp === undefined) return skipped('The database has no schema of ours, or none that may be read.');
    return check({ inspection, stamp }, examination);
  });
}
