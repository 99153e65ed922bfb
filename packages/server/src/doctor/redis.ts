import { type Finding, failed, ok, skipped, warning } from '../lib/finding.ts';
import type { RedisInspected } from '../limiter/redis/inspect.ts';
import { ratesOf } from '../serve/settings.ts';
import { type Check, insideDatabase } from './check.ts';

export const checkRedis: Check = async ({ redis }) =>
  (await redis)?.finding ?? ok('None is set: the rate limit is counted by each instance for itself.');

const howToShare = 'Give all instances the same --redis, so that they count together.';

/** Whether the instances that serve this database share one rate limit. Workers of an instance always do. */
export const checkInstances = insideDatabase(async (inspection, { config, redis }) => {
  if (Object.values(ratesOf(config)).every((rate) => rate === 0)) {
    return ok('No rate is set, so instances have nothing to count together.');
  }
  const count = await inspection.instances();
  const shared = await redis;
  if (count !== undefined) return judgeInstances(count, shared);
  // The embedded database does not know its instances, so a forgotten Redis cannot be noticed.
  if (shared !== undefined)
    return ok('Those who serve the embedded database with this --redis count together.');
  return skipped(
    'How many instances serve the embedded database cannot be seen. One needs no Redis; ' +
      'several without one would each count the rate limit for itself.',
  );
});

type Shared = Pick<RedisInspected, 'instances'>;

/** Compares the instances of the database with those of the Redis, if one is set. */
export function judgeInstances(count: number, shared: Shared | undefined): Finding {
  if (count === 0) return ok('No instance serves this database now.');
  const serving = `${count === 1 ? '1 instance serves' : `${count} instances serve`} this database now`;
  if (shared === undefined) {
    if (count === 1) return ok(`${serving}, and needs no Redis to count by itself.`);
    return failed(
      `${serving}, each with a rate limit of its own: partners get ${count} times it.`,
      howToShare,
    );
  }
  if (shared.instances === undefined) return skipped(`${serving}; whether by this Redis is not known.`);
  if (shared.instances >= count) return ok(`${serving}, by this Redis.`);
  const few = shared.instances === 0 ? 'none' : `only ${shared.instances}`;
  return warning(`${serving}, ${count === 1 ? 'but not' : `and ${few} of them`} by this Redis.`, howToShare);
}
