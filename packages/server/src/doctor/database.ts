import type { Environment } from '@partner-network/contract/environments';
import { doctorBounds } from '../bounds/doctor.ts';
import { type Finding, failed, ok, skipped, warning } from '../lib/finding.ts';
import type { RedisInspected } from '../limiter/redis/inspect.ts';
import { ratesOf, type ServeConfig } from '../serve/settings.ts';
import { instancePrefix } from '../store/address.ts';
import type { Inspection } from '../store/inspection.ts';
import { type Fault, faultOfEnvironment, faultOfNewVersion, faultOfOldVersion } from '../store/sql/schema.ts';

export function checkEnvironment(stamped: unknown, environment: Environment): Finding {
  const fault = faultOfEnvironment(stamped, environment);
  return fault === undefined ? ok(`It is a ${environment} database.`) : failedBy(fault);
}

export async function checkSchema({ stamp, engine, currentVersion: current }: Inspection): Promise<Finding> {
  const version = (await stamp())?.version ?? 0;
  if (engine === 'sqlite' && version < current) {
    return ok(`It has schema ${version}, and gets schema ${current} when it is served.`);
  }
  const fault = faultOfNewVersion(version, current) ?? faultOfOldVersion(version, current);
  return fault === undefined ? ok(`It has schema ${version}, the current one.`) : failedBy(fault);
}

/** Reports a reason for which `serve` would refuse to start. */
export function failedBy({ fact, remedy }: Fault): Finding {
  return failed(`${fact}.`, `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`);
}

/** Assumes that the server read its clock halfway between the query and its answer. */
export async function checkClock({ engine, rows }: Inspection, nowMs: () => number): Promise<Finding> {
  if (engine === 'sqlite') return ok("The database has this machine's clock.");
  const askedMs = nowMs();
  const [read] = await rows('select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms');
  const unsureMs = (nowMs() - askedMs) / 2;
  return judgeClock(askedMs + unsureMs - Number(read!.now_ms), unsureMs);
}

/** How far this machine's clock is ahead of the database's; this may be wrong by `unsureMs` either way. */
export function judgeClock(aheadMs: number, unsureMs: number): Finding {
  const remedy = 'Let both machines keep time by NTP (timedatectl shows whether this one does).';
  const apartMs = Math.abs(aheadMs);
  const limit = seconds(doctorBounds.clockSkewMs);
  if (apartMs - unsureMs > doctorBounds.clockSkewMs) {
    const side = aheadMs > 0 ? 'ahead of' : 'behind';
    const what = `This machine's clock is ${seconds(apartMs)} ${side} the database's`;
    return failed(`${what}: keys and grants would expire at the wrong time.`, remedy);
  }
  if (apartMs + unsureMs > doctorBounds.clockSkewMs) {
    const what = `The database takes ${seconds(unsureMs * 2)} to answer`;
    return warning(`${what}, too long to tell whether the clocks are within ${limit}.`, remedy);
  }
  return ok(`This machine's clock and the database's are within ${limit}.`);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`;
}

/** Whether the instances that serve this database share one rate limit. Workers of an instance always do. */
export async function checkInstances(
  { engine, rows }: Inspection,
  config: ServeConfig,
  redis: RedisInspected | undefined,
): Promise<Finding> {
  if (Object.values(ratesOf(config)).every((rate) => rate === 0)) {
    return ok('No rate is set, so instances have nothing to count together.');
  }
  if (engine === 'postgres') {
    // Every role may see the `application_name` of a connection.
    const text = `select count(distinct application_name)::integer as count from pg_stat_activity
      where datname = current_database() and starts_with(application_name, $1)`;
    return judgeInstances(Number((await rows(text, instancePrefix))[0]!.count), redis);
  }
  // The embedded database does not know its instances, so a forgotten Redis cannot be noticed.
  if (redis !== undefined)
    return ok('Those who serve the embedded database with this --redis count together.');
  return skipped(
    'How many instances serve the embedded database cannot be seen. One needs no Redis; ' +
      'several without one would each count the rate limit for itself.',
  );
}

/** Compares the instances of the database with those of the Redis, if one is set. */
export function judgeInstances(count: number, redis: Pick<RedisInspected, 'instances'> | undefined): Finding {
  if (count === 0) return ok('No instance serves this database now.');
  const howToShare = 'Give all instances the same --redis, so that they count together.';
  const serving = `${count === 1 ? '1 instance serves' : `${count} instances serve`} this database now`;
  if (redis === undefined) {
    if (count === 1) return ok(`${serving}, and needs no Redis to count by itself.`);
    const what = `each with a rate limit of its own: partners get ${count} times it`;
    return failed(`${serving}, ${what}.`, howToShare);
  }
  if (redis.instances === undefined) return skipped(`${serving}; whether by this Redis is not known.`);
  if (redis.instances >= count) return ok(`${serving}, by this Redis.`);
  const few = redis.instances === 0 ? 'none' : `only ${redis.instances}`;
  return warning(`${serving}, ${count === 1 ? 'but not' : `and ${few} of them`} by this Redis.`, howToShare);
}
