import { type Finding, skipped } from '../lib/finding.ts';
import type { RedisInspected } from '../limiter/redis/inspect.ts';
import type { ServeConfig } from '../serve/settings.ts';
import type { Inspected, Inspection } from '../store/inspection.ts';
import type { Stamp } from '../store/sql/schema.ts';

/** The input of all checks. Database, replicas and Redis are inspected at the same time. */
export interface Examination {
  readonly config: ServeConfig;
  readonly nowMs: () => number;
  /** The number of files that this process may open; undefined if the system sets no limit. */
  readonly openFiles: number | undefined;
  readonly database: Promise<Inspected>;
  readonly replicas: Promise<readonly Finding[]>;
  /** Undefined if no Redis is set. */
  readonly redis: Promise<RedisInspected | undefined>;
}

/** Checks one thing. Throws an error that it cannot explain. */
export type Check = (examination: Examination) => Promise<Finding>;

/** A check that reads from the database; skipped if the database cannot be read. */
export function insideDatabase(
  check: (inspection: Inspection, examination: Examination) => Promise<Finding>,
): Check {
  return async (examination) => {
    const { inspection } = await examination.database;
    if (inspection === undefined) return skipped('The database cannot be looked into.');
    return check(inspection, examination);
  };
}

/** A check that also needs our schema; skipped if the database does not have it. */
export function insideSchema(
  check: (inspection: Inspection, examination: Examination, stamp: Stamp) => Promise<Finding>,
): Check {
  return insideDatabase(async (inspection, examination) => {
    // The check of the schema reports why the stamp cannot be read.
    const stamp = await inspection.stamp().catch(() => undefined);
    if (stamp === undefined) return skipped('The database has no schema of ours, or none that may be read.');
    return check(inspection, examination, stamp);
  });
}
