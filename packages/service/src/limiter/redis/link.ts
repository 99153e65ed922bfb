import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { limiterBounds } from '@partner-network/common/bounds/limiter';
import { createOutageLog } from '@partner-network/common/observability/outage-log';
import type { Environment } from '@partner-network/contract/environments';
import type { Redis, RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import type { Decision } from '../port.ts';
import { inTime, kindOf } from './reply.ts';
import type { RedisAddress } from './url.ts';

const lostMessage = 'Redis does not answer; this instance admits its share of the rates';

export type RedisLink = Awaited<ReturnType<typeof openRedisLink>>;

/** The Lua scripts, which the driver makes methods. */
interface Scripts {
  admit(admissions: string, ratePerSecond: number, windowMicros: number, lifeMs: number): Promise<unknown>;
  heartbeat(instances: string, instance: string, staleMs: number): Promise<number>;
}

/**
 * Opens this process's connection to the Redis that all instances share. It has three states:
 *
 * - `answering`: each request is sent to Redis, and a heartbeat every `heartbeatMs`.
 * - `lost`: only a heartbeat is sent, every `redisProbeMs`, so that no request waits. A link starts here.
 * - `closed`: nothing is sent.
 *
 * answering → lost: a reply takes over `redisBudgetMs`, a heartbeat fails, or the connection closes.
 * lost → answering: a heartbeat is answered within `redisBudgetMs`.
 * answering, lost → closed: `close()`.
 *
 * The driver connects again by itself. It closes a connection that owes a reply for `redisSilenceMs`, and
 * opens the next one after `redisReconnectMs`.
 */
export async function openRedisLink(
  address: RedisAddress,
  environment: Environment,
  minInstances: number,
  log: Logger,
) {
  // Imported only if Redis is configured: the import takes 58 ms.
  const { Redis } = await import('ioredis');
  const redis = new Redis({ ...optionsOf(address), lazyConnect: true }) as Redis & Scripts;
  const [instances, instance] = [instancesKey(environment), randomUUID()];
  const outage = createOutageLog(limiterBounds.redisSilenceMs);
  let state: 'answering' | 'lost' | 'closed' = 'lost';
  let knownInstances = minInstances;
  /** Heartbeats since Redis returned. A restarted Redis counts all instances only after a few of them. */
  let heartbeats = 0;
  let reason: string | undefined;
  let nextHeartbeat: NodeJS.Timeout | undefined;

  function enter(next: 'answering' | 'lost'): void {
    if (state === 'closed') return;
    state = next;
    clearTimeout(nextHeartbeat);
    const { heartbeatMs, redisProbeMs } = limiterBounds;
    nextHeartbeat = setTimeout(heartbeat, next === 'answering' ? heartbeatMs : redisProbeMs);
  }

  function lose(): void {
    enter('lost');
    outage.failed(() => log.warn({ reason: reason ?? 'no answer' }, lostMessage));
  }

  function noteReason(error: unknown): void {
    reason = kindOf(error) ?? reason;
  }

  async function heartbeat(): Promise<void> {
    const reply = redis.heartbeat(instances, instance, limiterBounds.instanceStaleMs);
    reply.catch(noteReason);
    const count = await inTime(reply);
    if (count === undefined) return lose();
    heartbeats = state === 'answering' ? heartbeats + 1 : 1;
    const isComplete = heartbeats > limiterBounds.heartbeatsUntilComplete;
    knownInstances = Math.max(count, isComplete ? minInstances : knownInstances);
    reason = undefined;
    enter('answering');
    outage.recovered(() => log.info('Redis answers again'));
  }

  redis.on('error', noteReason);
  redis.on('close', lose);
  await redis.connect().catch(noteReason);
  await heartbeat();

  return {
    /** Number of instances that Redis last reported, this one included, but at least `minInstances`. */
    knownInstances: () => knownInstances,
    /** Redis's decision. Undefined if Redis is lost: the caller then decides by itself. */
    async admit(key: string, ratePerSecond: number): Promise<Decision | undefined> {
      if (state !== 'answering') return undefined;
      const [windowMicros, lifeMs] = [limiterBounds.rateWindowMs * 1_000, limiterBounds.redisLogLifeMs];
      const reply = await inTime(redis.admit(key, ratePerSecond, windowMicros, lifeMs), lose);
      if (!isDecision(reply)) return undefined;
      const [isAdmitted, left, untilMoreMicros] = reply;
      return { isAdmitted: isAdmitted === 1, left, untilMoreMs: untilMoreMicros / 1_000 };
    },
    async close(): Promise<void> {
      state = 'closed';
      clearTimeout(nextHeartbeat);
      // Also if Redis is lost: otherwise the other instances would count this one for 3 more seconds.
      await inTime(redis.zrem(instances, instance));
      redis.disconnect();
    },
  };
}

/** False for any reply that our script does not give: the server may not be a Redis at all. */
function isDecision(reply: unknown): reply is [number, number, number] {
  return Array.isArray(reply) && reply.length === 3 && reply.every((part) => Number.isFinite(part));
}

/** The sorted set in which instances report that they are alive. */
export function instancesKey(environment: Environment): string {
  return `partner-network:${environment}:instances`;
}

export function optionsOf(address: RedisAddress): RedisOptions {
  return {
    ...address,
    scripts: { admit: scriptOf('admit'), heartbeat: scriptOf('heartbeat') },
    // A command that cannot be sent now, or has no reply when the connection closes, fails at once.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: limiterBounds.redisConnectMs,
    socketTimeout: limiterBounds.redisSilenceMs,
    // A Redis that hangs would not close its end.
    disconnectTimeout: limiterBounds.redisDisconnectMs,
    retryStrategy: () => limiterBounds.redisReconnectMs,
    // The first heartbeat shows whether Redis is ready. While it loads its data, the heartbeat fails.
    enableReadyCheck: false,
    disableClientInfo: true,
    protocol: 2,
  };
}

function scriptOf(name: string): { lua: string; numberOfKeys: number } {
  return { lua: readFileSync(new URL(`${name}.lua`, import.meta.url), 'utf8'), numberOfKeys: 1 };
}
