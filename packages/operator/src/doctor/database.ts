import { doctorBounds } from '@partner-network/common/bounds/operator';
import { type Finding, failed, ok, skipped, warning } from '@partner-network/common/finding';
import type { Environment } from '@partner-network/contract/environments';
import type { RedisInspected } from '@partner-network/service/limiter/redis/inspect';
import { ratesOf, type ServeConfig } from '@partner-network/service/settings';
import type { Inspection } from '@partner-network/store/inspection';
import { StoreLocked } from '@partner-network/store/port';
import {
  requireEnvironment,
  requireKnown,
  requireUpdated,
  type Stamp,
} from '@partner-network/store/sql/schema';

export function checkEnvironment(stamped: unknown, environment: Environment): Finding {
  requireEnvironment(stamped, environment);
  return ok(`The database belongs to ${environment}.`);
}

export async function checkSchema({ stamp, engine, currentVersion: current }: Inspection): Promise<Finding> {
  const version = (await stamp())?.version ?? 0;
  if (engine === 'sqlite' && version < current) {
    return ok(`The database has schema ${version}. serve updates it to schema ${current}.`);
  }
  requireKnown(version, current);
  requireUpdated(version, current);
  return ok(`The database has the current schema, ${version}.`);
}

/** Tries a change and rolls it back: a broken trigger fails all of them, and no other check notices. */
export async function checkWrites(opened: Inspection, { version }: Stamp): Promise<Finding> {
  const { engine, rows, tryWrite, currentVersion } = opened;
  if (version !== currentVersion) return skipped('Not checked, because the schema is not current.');
  const [held] = engine === 'sqlite' ? [] : await rows(mayWriteEntries);
  if (held?.may_write === false) {
    const what = `The role ${held.role} may not write the audit log, which every change does`;
    return skipped(`${what}. To try a change, run doctor with the DATABASE_URL of admin.`);
  }
  try {
    await tryWrite();
    return ok('Changes can be written: one was tried and rolled back.');
  } catch (error) {
    if (error instanceof StoreLocked) return skipped('Not checked, because another command is writing.');
    const remedy =
      'If the message is not clear, compare the triggers of audit_log and their functions with those of a ' +
      'new database that "partner-network migrate" made.';
    return failed(`Changes cannot be written. ${(error as Error).message}`, remedy);
  }
}

const mayWriteEntries = `
  select quote_ident(current_user) as role, has_any_column_privilege('audit_log', 'insert') as may_write`;

/** Assumes that the server read its clock halfway between the query and its answer. */
export async function checkClock({ engine, rows }: Inspection, nowMs: () => number): Promise<Finding> {
  if (engine === 'sqlite') return ok("The embedded database uses this machine's clock.");
  const askedMs = nowMs();
  const [read] = await rows('select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms');
  const unsureMs = (nowMs() - askedMs) / 2;
  return judgeClock(askedMs + unsureMs - Number(read!.now_ms), unsureMs);
}

/** How far this machine's clock is ahead of the database's; this may be wrong by `unsureMs` either way. */
export function judgeClock(aheadMs: number, unsureMs: number): Finding {
  const remedy =
    'Synchronize the clocks of both machines with NTP. "timedatectl" shows the state of this one.';
  const apartMs = Math.abs(aheadMs);
  const limit = seconds(doctorBounds.clockSkewMs);
  if (apartMs - unsureMs > doctorBounds.clockSkewMs) {
    const side = aheadMs > 0 ? 'ahead of' : 'behind';
    const what = `This machine's clock is ${seconds(apartMs)} ${side} the database's`;
    return failed(`${what}: keys and grants would expire at the wrong time.`, remedy);
  }
  if (apartMs + unsureMs > doctorBounds.clockSkewMs) {
    const what = `The database takes ${seconds(unsureMs * 2)} to answer`;
    return warning(`${what}, too long to check whether the clocks are within ${limit}.`, remedy);
  }
  return ok(`This machine's clock and the database's are within ${limit}.`);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`;
}

/** Whether the instances that serve this database share one rate limit. Workers of an instance always do. */
export async function checkInstances(
  { instances }: Inspection,
  config: ServeConfig,
  redis: RedisInspected | undefined,
): Promise<Finding> {
  if (Object.values(ratesOf(config)).every((rate) => rate === 0)) {
    return ok('No rate limit is set. Instances share only those of single partners, through --redis.');
  }
  if (instances !== undefined) return judgeInstances(await instances(), redis);
  // The embedded database does not know its instances, so a forgotten Redis cannot be noticed.
  if (redis !== undefined) return ok('All instances with this --redis share one rate limit.');
  return skipped(
    'Instances on the embedded database cannot be counted. One instance needs no Redis. ' +
      'Several instances without Redis would each have their own rate limit.',
  );
}

/** Compares the instances of the database with those of the Redis, if one is set. */
export function judgeInstances(count: number, redis: Pick<RedisInspected, 'instances'> | undefined): Finding {
  if (count === 0) return ok('No instance serves this database now.');
  const howToShare = 'Set the same --redis on all instances, so that they share one rate limit.';
  const serving = `${count === 1 ? '1 instance serves' : `${count} instances serve`} this database now`;
  if (redis === undefined) {
    if (count === 1) return ok(`${serving}, so no Redis is needed.`);
    const what = `each with its own rate limit: partners get up to ${count} times the rate`;
    return failed(`${serving}, ${what}.`, howToShare);
  }
  if (redis.instances === undefined)
    return skipped(`${serving}. The instances that use this Redis cannot be counted.`);
  if (redis.instances >= count) return ok(`${serving}, with this Redis.`);
  const few = redis.instances === 0 ? 'none' : `only ${redis.instances}`;
  return warning(`${serving}, but ${count === 1 ? 'not' : `${few} of them`} with this Redis.`, howToShare);
}
