import { asOne, type Finding, failed, ok, skipped } from '@partner-network/common/finding';
import { openFileLimit } from '@partner-network/common/process';
import type { Environment } from '@partner-network/contract/environments';
import { inspectRedis } from '@partner-network/service/limiter/redis/inspect';
import { databaseConfig } from '@partner-network/service/settings';
import type { DatabaseAddress } from '@partner-network/store/address';
import { inspectDatabase } from '@partner-network/store/engines';
import type { Inspected, Inspection } from '@partner-network/store/inspection';
import { type Stamp, Unusable } from '@partner-network/store/sql/schema';
import { checkClock, checkEnvironment, checkInstances, checkSchema, checkWrites } from './database.ts';
import { checkCursorKeys, checkKeys } from './keys.ts';
import { checkDisk, checkOpenFiles, checkReceipts } from './machine.ts';
import { checkSettings, type DoctorConfig } from './settings.ts';
import { checkSignIn } from './sign-in.ts';

export type Examined = Finding & { readonly name: string };

type Answer = Finding | Promise<Finding>;
type OnCheck = (name: string) => void;

/** The checks of a database, and how to make another one. */
async function checksOf(
  { finding, inspection }: Inspected,
  environment: Environment,
  nowMs: () => number,
  service?: Parameters<Inspection['privileges']>[0],
) {
  // The check of the schema reports why the stamp cannot be read.
  const stamp = await inspection?.stamp().catch(() => undefined);

  const closed = skipped('Not checked, because the database cannot be opened.');
  const inDatabase = (check: (opened: Inspection) => Answer) =>
    inspection === undefined ? closed : check(inspection);
  const without = skipped('Not checked, because the database has no schema that can be read.');
  const inSchema = (check: (opened: Inspection, stamp: Stamp) => Answer) =>
    inDatabase((opened) => (stamp === undefined ? without : check(opened, stamp)));

  return {
    inDatabase,
    database: () => finding,
    environment: () => inSchema((_opened, stamp) => checkEnvironment(stamp.environment, environment)),
    schema: () => inDatabase(checkSchema),
    privileges: () => inDatabase((opened) => opened.privileges(service)),
    writes: () => inSchema(checkWrites),
    nodes: () => inSchema((opened) => opened.nodes()),
    clock: () => inDatabase((opened) => checkClock(opened, nowMs)),
    keys: () => inSchema((opened) => checkKeys(opened, nowMs())),
    cursor_keys: () => inSchema((opened) => checkCursorKeys(opened, nowMs())),
  };
}

/** Checks everything that `serve` needs with these settings, and changes nothing. */
export async function examine(
  config: DoctorConfig,
  onCheck?: OnCheck,
  nowMs: () => number = Date.now,
  openFiles: number | undefined = openFileLimit(),
): Promise<readonly Examined[]> {
  const { database, environment } = databaseConfig(config);
  const [inspected, redis, receipts] = await Promise.all([
    inspectDatabase(database, config.replica, environment),
    config.redis === undefined ? undefined : inspectRedis(config.redis, environment),
    checkReceipts(config),
  ]);
  const { replicas, disks, inspection } = inspected;
  const { inDatabase, keys, cursor_keys, ...own } = await checksOf(inspected, environment, nowMs);
  /** In the order of the output. Scripts rely on the names. */
  const examined = await findingsOf(onCheck, {
    settings: () => checkSettings(config),
    open_files: () => checkOpenFiles(openFiles),
    disk: () => checkDisk(disks),
    ...own,
    replicas: () => (replicas.length === 0 ? ok('No replica is set.') : asOne(replicas)),
    redis: () => redis?.finding ?? ok('No Redis is set: each instance has its own rate limit.'),
    instances: () => inDatabase((opened) => checkInstances(opened, config, redis)),
    keys,
    cursor_keys,
    receipts: () => receipts,
    sign_in: () => checkSignIn(config),
  });
  await inspection?.close();
  return examined;
}

/** Checks what the administrative service needs of its database. */
export async function examineDatabase(
  database: DatabaseAddress,
  environment: Environment,
): Promise<readonly Examined[]> {
  const inspected = await inspectDatabase(database, [], environment);
  const { inDatabase: _, ...own } = await checksOf(inspected, environment, Date.now, 'network_admin');
  const examined = await findingsOf(undefined, { disk: () => checkDisk(inspected.disks), ...own });
  await inspected.inspection?.close();
  return examined;
}

async function findingsOf(
  onCheck: OnCheck | undefined,
  checks: Readonly<Record<string, () => Answer>>,
): Promise<Examined[]> {
  const examined: Examined[] = [];
  // One after the other: the checks of the database share a connection.
  for (const [name, check] of Object.entries(checks)) {
    onCheck?.(name);
    examined.push({ name, ...(await findingOf(check)) });
  }
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
