import { type Finding, failed, ok, skipped, warning } from '../lib/finding.ts';
import type { RedisInspected } from '../limiter/redis/inspect.ts';
import { ratesOf, type ServeConfig } from '../serve/settings.ts';
import { instancePrefix } from '../store/address.ts';
import type { Inspection } from '../store/inspection.ts';

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
