import { asOne, type Finding, failed, ok, skipped } from '@partner-network/common/finding';
import { openFileLimit } from '@partner-network/common/open-files';
import { inspectRedis } from '@partner-network/service/limiter/redis/inspect';
import { databaseConfig } from '@partner-network/service/settings/database';
import { inspectDatabase } from '@partner-network/store/engines';
import type { Inspection } from '@partner-network/store/inspection';
import { type Stamp, Unusable } from '@partner-network/store/sql/schema';
import { checkClock, checkEnvironment, checkInstances, checkSchema } from './database.ts';
import { checkDisk } from './disk.ts';
import { checkCursorKeys, checkKeys } from './keys.ts';
import { checkReceipts } from './receipts.ts';
import { checkOpenFiles, checkSettings, type DoctorConfig } from './settings.ts';

export type Examined = Finding & { readonly name: string };

type Answer = Finding | Promise<Finding>;

/** Checks everything that `serve` needs with these settings, and changes nothing. */
export async function examine(
  config: DoctorConfig,
  nowMs: () => number = Date.now,
  openFiles: number | undefined = openFileLimit(),
): Promise<readonly Examined[]> {
  const { database, environment } = databaseConfig(config);
  const [{ finding, replicas, disks, inspection }, redis, receipts] = await Promise.all([
    inspectDatabase(database, config.replica, environment),
    config.redis === undefined ? undefined : inspectRedis(config.redis, environment),
    checkReceipts(config),
  ]);
  // The check of the schema reports why the stamp cannot be read.
  const stamp = await inspection?.stamp().catch(() => undefined);

  function inDatabase(check: (opened: Inspection) => Answer): Answer {
    return inspection === undefined
      ? skipped('Not checked, because the database cannot be opened.')
      : check(inspection);
  }

  function inSchema(check: (opened: Inspection, stamp: Stamp) => Answer): Answer {
    const without = skipped('Not checked, because the database has no schema that can be read.');
    return inDatabase((opened) => (stamp === undefined ? without : check(opened, stamp)));
  }

  /** In the order of the output. Scripts rely on the names. */
  const checks: Readonly<Record<string, () => Answer>> = {
    settings: () => checkSettings(config),
    open_files: () => checkOpenFiles(openFiles),
    disk: () => checkDisk(disks),
    database: () => finding,
    environment: () => inSchema((_opened, stamp) => checkEnvironment(stamp.environment, environment)),
    schema: () => inDatabase(checkSchema),
    privileges: () => inDatabase((opened) => opened.privileges()),
    nodes: () => inSchema((opened) => opened.nodes()),
    clock: () => inDatabase((opened) => checkClock(opened, nowMs)),
    replicas: () => (replicas.length === 0 ? ok('No replica is set.') : asOne(replicas)),
    redis: () => redis?.finding ?? ok('No Redis is set: each instance has its own rate limit.'),
    instances: () => inDatabase((opened) => checkInstances(opened, config, redis)),
    keys: () => inSchema((opened) => checkKeys(opened, nowMs())),
    cursor_keys: () => inSchema((opened) => checkCursorKeys(opened, nowMs())),
    receipts: () => receipts,
  };
  const examined: Examined[] = [];
  // One after the other: the checks of the database share a connection.
  for (const [name, check] of Object.entries(checks)) examined.push({ name, ...(await findingOf(check)) });
  await inspection?.close();
  return examined;
}

/** An error in one check is its finding, so that the others are still reported. */
async function findingOf(check: () => Answer): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof Unusable) return error.finding();
    return failed(
      (error as Error).message,
      'Fix this and the other findings in this list, then run doctor again.',
    );
  }
}
