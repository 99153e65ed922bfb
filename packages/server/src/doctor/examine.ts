import { type Finding, failed } from '../lib/finding.ts';
import { openFileLimit } from '../lib/open-files.ts';
import { inspectRedis } from '../limiter/redis/inspect.ts';
import { databaseConfig, type ServeConfig } from '../serve/settings.ts';
import { inspectDatabase, inspectReplicas } from '../store/engines.ts';
import { Refused } from '../store/sql/schema.ts';
import { checkClock } from './clock.ts';
import { checkCursorKeys } from './cursor-keys.ts';
import { checkDatabase, checkEnvironment, checkPrivileges, checkSchema, failedBy } from './database.ts';
import type { Check, Examination } from './examination.ts';
import { checkKeys } from './keys.ts';
import { checkOpenFiles } from './open-files.ts';
import { checkInstances, checkRedis } from './redis.ts';
import { checkReplicas } from './replicas.ts';
import { checkSettings } from './settings.ts';

/** In the order in which they are told. Scripts know them by name. */
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

/** Looks at everything that serving with these settings needs, and changes nothing. */
export async function examine(
  config: ServeConfig,
  nowMs: () => number = Date.now,
  openFiles: number | undefined = openFileLimit(),
): Promise<readonly Examined[]> {
  const examination = begin(config, nowMs, openFiles);
  const examined: Examined[] = [];
  // One after the other, for those on the database share a connection to it.
  for (const [name, check] of checks) examined.push({ name, ...(await findingOf(check, examination)) });
  await (await examination.database).inspection?.close();
  return examined;
}

function begin(config: ServeConfig, nowMs: () => number, openFiles: number | undefined): Examination {
  const { database, environment } = databaseConfig(config);
  const { redis } = config;
  return {
    config,
    nowMs,
    openFiles,
    database: inspectDatabase(database, environment),
    replicas: inspectReplicas(database, config.replica, environment),
    redis: redis === undefined ? Promise.resolve(undefined) : inspectRedis(redis, environment),
  };
}

/** What one check runs into does not keep the others from being told. */
async function findingOf(check: Check, examination: Examination): Promise<Finding> {
  try {
    return await check(examination);
  } catch (error) {
    if (error instanceof Refused) return failedBy(error.fault);
    return failed((error as Error).message, 'Mend this, or what else is told here, and run doctor again.');
  }
}
