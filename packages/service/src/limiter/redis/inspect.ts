/** Checks the Redis of the rate limit for `doctor`, without writing to it. */
import { asOne, type Finding, failed, ok, warning } from '@partner-network/common/finding';
import { hostAndPort } from '@partner-network/common/text';
import type { Environment } from '@partner-network/contract/environments';
import type { Cluster, Redis } from 'ioredis';
import { clusterOptionsOf, kindOf, optionsOf } from './client.ts';
import { instancesKey } from './link.ts';
import type { RedisAddress } from './url.ts';

export interface RedisInspected {
  readonly finding: Finding;
  /** Number of processes that share their rates through this Redis now. Undefined if it cannot be read. */
  readonly instances?: number;
}

const slotsOfCluster = 16_384;

/** What to do about an error, by its kind. */
const remedies: Readonly<Record<string, string>> = {
  WRONGPASS: 'Correct the user and password in --redis.',
  NOAUTH: 'Add the password to --redis: redis://:PASSWORD@HOST:PORT.',
  NOPERM: 'Allow its user to run INFO, EVAL and the commands of our scripts on partner-network:*.',
  ERR: 'Correct --redis: its database number may not exist, or redis-cluster:// may name a single Redis.',
  LOADING: 'Wait until Redis has loaded its data.',
  ECONNREFUSED: 'Start Redis, or correct the host and port in --redis.',
  ENOTFOUND: 'Correct the host in --redis.',
};

/** Asks the Redis, or each primary of a Redis Cluster. */
export async function inspectRedis(address: RedisAddress, environment: Environment): Promise<RedisInspected> {
  const countIn = (redis: Redis | Cluster) => redis.zcard(instancesKey(environment));
  if (address.nodes === undefined) return inspectServer(address, countIn);
  const { Cluster } = await import('ioredis');
  const isTriedOnce = { clusterRetryStrategy: null, clusterNodeRetryStrategy: () => null };
  const cluster = new Cluster([...address.nodes], { ...clusterOptionsOf(address), ...isTriedOnce });
  const errors: { lastNodeError?: unknown }[] = [];
  cluster.on('error', (error) => errors.push(error));
  try {
    await cluster.connect();
    const primaries = cluster
      .nodes('master')
      .map(({ options: { host, port } }) => ({ host: host!, port: port! }));
    const inspected = await Promise.all(primaries.map((node) => inspectServer({ ...address, ...node })));
    const instances = await countIn(cluster).catch(() => undefined);
    return {
      finding: asOne([...inspected.map(({ finding }) => finding), ...missingSlots(cluster)]),
      ...(instances !== undefined && { instances }),
    };
  } catch (error) {
    const names = address.nodes.map(({ host, port }) => hostAndPort(host, port));
    return { finding: unusable(`Redis Cluster at ${names.join(', ')}`, errors[0]?.lastNodeError ?? error) };
  } finally {
    cluster.disconnect();
  }
}

async function inspectServer(
  address: RedisAddress,
  countIn?: (redis: Redis) => Promise<number>,
): Promise<RedisInspected> {
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
    const finding = judge(where, info, address.nodes !== undefined);
    return finding.status === 'failed' || countIn === undefined
      ? { finding }
      : { finding, instances: await countIn(redis) };
  } catch (error) {
    return { finding: unusable(where, errors[0] ?? error) };
  } finally {
    redis.disconnect();
  }
}

function unusable(where: string, error: unknown): Finding {
  const reason = kindOf(error) ?? 'no answer';
  const otherwise = /CERT|UNABLE_TO_|ERR_TLS_/.test(reason)
    ? 'Correct the host in --redis, or set NODE_EXTRA_CA_CERTS to the certificate of your authority.'
    : 'Correct --redis, or check the server and the network.';
  const remedy = remedies[reason] ?? otherwise;
  return failed(`${where} cannot be used (${reason}).`, remedy);
}

function missingSlots({ slots }: Cluster): Finding[] {
  const count = slotsOfCluster - Object.keys(slots).length;
  const remedy = 'Give each slot a node: redis-cli --cluster fix HOST:PORT.';
  return count === 0 ? [] : [failed(`${count} of ${slotsOfCluster} slots have no node.`, remedy)];
}

function judge(where: string, info: string, isInCluster: boolean): Finding {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  if (field('redis_mode') === 'cluster' && !isInCluster) {
    return failed(
      `${where} is a node of a Redis Cluster, which decides only for a part of the partners.`,
      'Name the nodes in --redis: redis-cluster://HOST:PORT,HOST:PORT.',
    );
  }
  if (field('role') === 'slave') {
    return failed(`${where} is a replica, which cannot be written to.`, 'Set --redis to its primary.');
  }
  const policy = field('maxmemory_policy') ?? 'noeviction';
  if ((field('maxmemory') ?? '0') === '0' || policy === 'noeviction') return ok(`${where} answers.`);
  return warning(
    `${where} evicts keys when its memory is full (${policy}), and then forgets admitted requests.`,
    'Run CONFIG SET maxmemory-policy noeviction on it, or use a separate Redis for the rate limit.',
  );
}
