/** Checks the Redis of the rate limit for `doctor`, without writing to it. */

import { type Finding, failed, ok, warning } from '@partner-network/common/finding';
import { hostAndPort } from '@partner-network/common/host-and-port';
import type { Environment } from '@partner-network/contract/environments';
import { instancesKey, optionsOf } from './link.ts';
import { kindOf } from './reply.ts';
import type { RedisAddress } from './url.ts';

export interface RedisInspected {
  readonly finding: Finding;
  /** Number of processes that share their rates through this Redis now. Undefined if it cannot be read. */
  readonly instances?: number;
}

/** What to do about an error, by its kind. */
const remedies: Readonly<Record<string, string>> = {
  WRONGPASS: 'Correct the user and password in --redis.',
  NOAUTH: 'Add the password to --redis: redis://:PASSWORD@HOST:PORT.',
  NOPERM: 'Allow its user to run INFO, EVAL and the commands of our scripts on partner-network:*.',
  ERR: 'Correct --redis: its database number may not exist.',
  LOADING: 'Wait until Redis has loaded its data.',
  ECONNREFUSED: 'Start Redis, or correct the host and port in --redis.',
  ENOTFOUND: 'Correct the host in --redis.',
};

export async function inspectRedis(address: RedisAddress, environment: Environment): Promise<RedisInspected> {
  const { Redis } = await import('ioredis');
  const redis = new Redis({ ...optionsOf(address), lazyConnect: true, retryStrategy: () => null });
  const where = `Redis at ${hostAndPort(address.host, address.port)}`;
  // A wrong password is reported by an event. The commands after it fail with a less useful error.
  const errors: unknown[] = [];
  redis.on('error', (error) => errors.push(error));
  try {
    await redis.connect();
    // If the database number does not exist, the driver silently stays in database 0.
    if (address.db !== 0) await redis.select(address.db);
    const info = await redis.info();
    // Decisions are made by scripts, and the Redis user may not be allowed to run any.
    await redis.eval('return 1', 0);
    return { finding: judge(where, info), instances: await redis.zcard(instancesKey(environment)) };
  } catch (error) {
    const reason = kindOf(errors[0] ?? error) ?? 'no answer';
    const remedy = remedies[reason] ?? 'Correct --redis, or check the server and the network.';
    return { finding: failed(`${where} cannot be used (${reason}).`, remedy) };
  } finally {
    redis.disconnect();
  }
}

function judge(where: string, info: string): Finding {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  if (field('role') === 'slave') {
    return failed(`${where} is a replica, which cannot be written to.`, 'Set --redis to its primary.');
  }
  const [memory = '0', policy = 'noeviction'] = [field('maxmemory'), field('maxmemory_policy')];
  if (memory === '0' || policy === 'noeviction') return ok(`${where} answers.`);
  return warning(
    `${where} evicts keys when its memory is full (${policy}), and then forgets admitted requests.`,
    'Run CONFIG SET maxmemory-policy noeviction on it, or use a separate Redis for the rate limit.',
  );
}
