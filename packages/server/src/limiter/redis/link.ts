import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Environment } from '@partner-network/contract/environments';
import type { Redis, RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { limiterBounds } from '../../bounds/limiter.ts';
import type { Decision } from '../port.ts';
import type { RedisAddress } from './url.ts';
import { inTime, watchRedis } from './watch.ts';

/** This process's connection to the Redis that it shares with the other instances. */
export interface RedisLink {
  isAnswering(): boolean;
  /** Redis's decision, or undefined when there is none within the budget. */
  admit(key: string, ratePerSecond: number, share: number): Promise<Decision | undefined>;
  /** How many instances there were, this one included, when Redis was last heard of. */
  instances(): number;
  /** Until then, by this process's clock, nobody here knows what others were admitted. */
  unknownUntilMs(): number;
  /** Until then Redis does not know all that was admitted without it. */
  heldUntilMs(): number;
  close(): Promise<void>;
}

interface Scripts {
  admit(
    log: string,
    apart: string,
    rate: number,
    windowMicros: number,
    lifeMs: number,
    instance: string,
    share: number,
  ): Promise<[number, number, number]>;
  heartbeat(
    instances: string,
    apart: string,
    instance: string,
    staleMs: number,
    apartMs: number,
    isApart: 0 | 1,
  ): Promise<number>;
}

/** Resolves when Redis has answered for the first time, or when it is plain that it does not. */
export async function openRedisLink(
  address: RedisAddress,
  environment: Environment,
  fewest: number,
  log: Logger,
): Promise<RedisLink> {
  // Loaded only where it is used: that takes 58 ms.
  const { Redis } = await import('ioredis');
  const redis = new Redis(optionsOf(address)) as Redis & Scripts;
  const [instances, instance] = [instancesKey(environment), randomUUID()];
  const apart = `partner-network:${environment}:apart`;
  const heartbeat = (isApart: boolean) =>
    redis.heartbeat(
      instances,
      apart,
      instance,
      limiterBounds.instanceStaleMs,
      limiterBounds.rateHoldMs,
      isApart ? 1 : 0,
    );
  const watch = watchRedis(redis, heartbeat, fewest, log);
  await watch.settled;

  return {
    isAnswering: watch.isAnswering,
    instances: watch.instances,
    unknownUntilMs: watch.unknownUntilMs,
    heldUntilMs: watch.heldUntilMs,
    async admit(key, ratePerSecond, share) {
      if (!watch.isAnswering()) return undefined;
      const [windowMicros, lifeMs] = [limiterBounds.rateWindowMs * 1_000, limiterBounds.redisLogLifeMs];
      const sent = redis.admit(key, apart, ratePerSecond, windowMicros, lifeMs, instance, share);
      const answer = await inTime(sent, watch.miss);
      if (!isDecision(answer)) return undefined;
      const [admitted, left, untilMoreMicros] = answer;
      return { isAdmitted: admitted === 1, left, untilMoreMs: untilMoreMicros / 1_000 };
    },
    async close() {
      watch.stop();
      // Also where Redis was late just now: the others would count this instance for seconds yet.
      await inTime(redis.zrem(instances, instance));
      redis.disconnect();
    },
  };
}

/** Whatever else something answers that is no Redis of ours is no decision. */
function isDecision(answer: unknown): answer is [number, number, number] {
  return Array.isArray(answer) && answer.length === 3 && answer.every((part) => Number.isFinite(part));
}

/** Where instances say that they live. */
export function instancesKey(environment: Environment): string {
  return `partner-network:${environment}:instances`;
}

export function optionsOf({ host, port, username, password, db, isEncrypted }: RedisAddress): RedisOptions {
  return {
    host,
    port,
    username,
    password,
    db,
    ...(isEncrypted ? { tls: {} } : {}),
    scripts: { admit: scriptOf('admit'), heartbeat: scriptOf('heartbeat') },
    // What cannot be sent now, or was sent before the connection broke, is decided here and never sent again.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: limiterBounds.redisConnectMs,
    // A Redis that hangs would not close its end.
    disconnectTimeout: limiterBounds.redisDisconnectMs,
    retryStrategy: (attempts) =>
      Math.min(attempts * limiterBounds.redisRetryStepMs, limiterBounds.redisRetryMs),
    // The first heartbeat shows whether it is ready, also of one that still loads its data.
    enableReadyCheck: false,
    disableClientInfo: true,
    protocol: 2,
  };
}

function scriptOf(name: string): { lua: string; numberOfKeys: number } {
  return { lua: readFileSync(new URL(`${name}.lua`, import.meta.url), 'utf8'), numberOfKeys: 2 };
}
