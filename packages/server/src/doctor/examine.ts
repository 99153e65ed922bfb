import { type Finding, failed } from '../lib/finding.ts';
import { openFileLimit } from '../lib/open-files.ts';
import { inspectRedis } from '../limiter/redis/inspect.ts';
import { databaseConfig, type ServeConfig } from '../serve/settings.ts';
import { inspectDatabase, inspectReplicas } from '../store/engines.ts';
import { Refused } from '../store/sql/schema.ts';
import type { Check, Examination } from './check.ts';
import {
  checkClock,
  checkDatabase,
  checkEnvironment,
  checkPrivileges,
  checkReplicas,
  checkSchema,
  failedBy,
} from './database.ts';
import { checkCursorKeys, checkKeys } from './keys.ts';
import { checkInstances, checkRedis } from './redis.ts';
import { checkOpenFiles, checkSettings } from './settings.ts';

/** In the order of the output. Scripts rely on the names. */
const checks: readonly [name: string, check: Check][] = [
  ['settings', checkSettings],
  ['open_files', checkOpenFiles],
  ['database', checkDatabase],
  ['environment', checkEnvironment],
  ['schema', checkSchema],
  ['privileges', checkPrivileges],
  ['clock', checkClock],
  ['replicas', checkReplicas],
  ['redis', checkRedis],
  ['instances', checkInstances],
  ['keys', checkKeys],
  ['cursor_keys', checkCursorKeys],
];

export interface Examined extends Finding {
  readonly name: string;
}

/** Checks everything that `serve` needs with these settings, and changes nothing. */
export async function examine(
  config: ServeConfig,
  nowMs: () => number = Date.now,
  openFiles: number | undefined = openFileLimit(),
): Promise<readonly Examined[]> {
  const { database, environment } = databaseConfig(config);
  const { redis, replica } = config;
  const examination: Examination = {
    config,
    nowMs,
    openFiles,
    database: inspectDatabase(database, environment),
    replicas: inspectReplicas(database, replica, environment),
    redis: redis === undefined ? Promise.resolve(undefined) : inspectRedis(redis, environment),
  };
  const examined: Examined[] = [];
  // One after the other: the checks of the database share a connection.
  for (const [name, check] of checks) examined.push({ name, ...(await findingOf(check, examination)) });
  await (await examination.database).inspection?.close();
  return examined;
}

/** An error in one check is its finding, so that the others are still reported. */
async function findingOf(check: Check, examination: Examination): Promise<Finding> {
  try {
    return await check(examination);
  } catch (error) {
    if (error instanceof Refused) return failedBy(error.fault);
    return failed((error as Error).message, 'Mend this, or what else is told here, and run doctor again.');
  }
}
