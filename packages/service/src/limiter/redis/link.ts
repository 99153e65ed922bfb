import { randomUUID } from 'node:crypto';
import { limiterBounds } from '@partner-network/common/bounds/service';
import { createFailureLog } from '@partner-network/common/observability/log';
import type { Environment } from '@partner-network/contract/environments';
import type { ListingName } from '@partner-network/contract/operations';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import {
  counted,
  createAdmissions,
  type Decision,
  decide,
  type Limiter,
  record,
  tallyOf,
} from '../rate-limit.ts';
import { createClient, inTime, nameOf, type Server, watchServer } from './client.ts';
import type { RedisAddress } from './url.ts';

const lostMessage = 'Redis does not answer; this instance admits its share of the rates';

export type RedisLink = Awaited<ReturnType<typeof openRedisLink>>;

/**
 * Opens this process's connection to the Redis that all instances share. With a Redis Cluster there is one
 * connection to each node. Losing a node affects only the partners whose windows are on it.
 */
export async function openRedisLink(
  address: RedisAddress,
  environment: Environment,
  minInstances: number,
  log: Logger,
) {
  const instances = instancesKey(environment);
  const instance = randomUUID();
  const outage = createFailureLog({ graceMs: limiterBounds.redisSilenceMs });
  let isOut = false;
  let knownInstances = minInstances;
  /** Heartbeats since Redis returned. A restarted Redis counts all instances only after a few of them. */
  let heartbeats = 0;
  // Imported only if Redis is configured: the import takes 58 ms.
  const client = createClient(await import('ioredis'), address, watch);

  function watch(redis: Redis): Server {
    const node = address.nodes && { node: nameOf(redis) };
    const server: Server = watchServer(redis, (wasAnswering) => beat(server, wasAnswering), {
      lost(reason) {
        isOut = true;
        outage.failed(() => log.warn({ reason, ...node }, lostMessage));
      },
      back() {
        if (!isOut || !client.isWhole()) return;
        isOut = false;
        outage.recovered(() => log.info('Redis answers again'));
      },
    });
    return server;
  }

  /** Instances report to one server. The other nodes of a cluster are only asked whether they decide. */
  async function beat(server: Server, wasAnswering: boolean): Promise<unknown> {
    if (client.serverOf(instances) !== server) return requireUp(await server.redis.cluster('INFO'));
    const count = await client.redis.heartbeat(instances, instance, limiterBounds.instanceStaleMs);
    heartbeats = wasAnswering ? heartbeats + 1 : 1;
    const isComplete = heartbeats > limiterBounds.heartbeatsUntilComplete;
    knownInstances = Math.max(count, isComplete ? minInstances : knownInstances);
    return count;
  }

  await client.connect();
  await Promise.all(client.servers().map((server) => server.heartbeat()));

  return {
    /** Number of instances that Redis last reported, this one included, but at least `minInstances`. */
    knownInstances: () => knownInstances,
    /** Redis's decision. Undefined if Redis is lost: the caller then decides by itself. */
    async admit(key: string, ratePerSecond: number): Promise<Decision | undefined> {
      const server = client.serverOf(key);
      if (!server?.isAnswering()) return undefined;
      const windowMicros = limiterBounds.rateWindowMs * 1_000;
      const sent = client.redis.admit(key, ratePerSecond, windowMicros, limiterBounds.redisLogLifeMs);
      const reply = await inTime(sent, server.lose);
      if (!isDecision(reply)) return undefined;
      const [isAdmitted, left, untilMoreMicros] = reply;
      const admitted = ratePerSecond - left;
      return { isAdmitted: isAdmitted === 1, admitted, left, untilMoreMs: untilMoreMicros / 1_000 };
    },
    async close(): Promise<void> {
      for (const server of client.servers()) server.close();
      // Also if Redis is lost: otherwise the other instances would count this one for 3 more seconds.
      await inTime(client.redis.zrem(instances, instance));
      client.disconnect();
    },
  };
}

function requireUp(info: unknown): true {
  if (!String(info).includes('cluster_state:ok')) throw new Error('CLUSTERDOWN');
  return true;
}

/** False for any reply that our script does not give: the server may not be a Redis at all. */
function isDecision(reply: unknown): reply is [number, number, number] {
  return Array.isArray(reply) && reply.length === 3 && reply.every((part) => Number.isFinite(part));
}

/** The sorted set in which instances report that they are alive. */
export function instancesKey(environment: Environment): string {
  return `partner-network:${environment}:instances`;
}

/**
 * A rate limit over all instances that share a Redis: exact while Redis answers. While Redis is lost, each
 * instance admits its share of the rate, counting all its own admissions of the last second.
 *
 * In the second in which Redis is lost or returns, a partner may get up to twice the rate: Redis does not
 * know what the instances admit, and an instance does not know what Redis admitted elsewhere.
 */
export function createRedisLimiter(
  link: RedisLink,
  environment: Environment,
  operation: ListingName,
  ratePerSecond: number,
): Limiter {
  const keyPrefix = `partner-network:${environment}:${operation}:`;
  const partners = createAdmissions();
  const byRedis = tallyOf('redis');
  const locally = tallyOf('local');
  const shareOf = (rate: number) => Math.max(1, Math.floor(rate / link.knownInstances()));

  return {
    ratePerSecond,
    tallies: [byRedis, locally],
    async admit(partnerId, rate) {
      const decision = await link.admit(keyPrefix + partnerId, rate);
      const now = performance.now();
      const own = partners.of(partnerId, now);
      if (decision === undefined) return counted(locally, decide(own, shareOf(rate), now));
      if (decision.isAdmitted) record(own, rate, now);
      return counted(byRedis, decision);
    },
  };
}
