import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';

/** Whether Redis is there to be asked, and what it said last of the other instances. */
interface RedisWatch {
  /** False from the moment that something was not answered in time until a heartbeat is. */
  isAnswering(): boolean;
  /** To be told when something was not answered in time. */
  miss(): void;
  instances(): number;
  heldUntilMs(): number;
  /** Resolves when Redis has answered for the first time, or when it is plain that it does not. */
  readonly settled: Promise<void>;
  /** No heartbeat is sent after this. */
  stop(): void;
}

/**
 * Sends a heartbeat every second, which Redis answers with the number of instances; while Redis is missed,
 * more often, and one at a time. A connection on which nothing comes back is made anew.
 */
export function watchRedis(
  redis: Redis,
  heartbeat: () => Promise<number>,
  fewest: number,
  log: Logger,
): RedisWatch {
  let isAnswering = false;
  let isProbing = false;
  let isStopped = false;
  let wasDisconnected = false;
  let instances = fewest;
  /** When there were last as many instances as that, for all we know. */
  let countedMs = 0;
  let heldUntilMs = 0;
  let heardMs = performance.now();
  /** Since when the connection owes its first answer, or the answer to a heartbeat. */
  let owingSinceMs: number | undefined;
  const settled = Promise.withResolvers<void>();
  const news = tellChanges(log);

  function hear(): void {
    heardMs = performance.now();
    // It may have been started anew, and remember nothing.
    if (wasDisconnected) heldUntilMs = heardMs + bounds.rateHoldMs;
    wasDisconnected = false;
    isAnswering = true;
    news.heard();
    settled.resolve();
  }

  /** Fewer are believed after a while only: after a new connection the others may not be back yet. */
  function count(found: number): void {
    const now = performance.now();
    if (found < instances && now - countedMs < bounds.instanceStaleMs) return;
    instances = found;
    countedMs = now;
  }

  async function probe(): Promise<void> {
    if (isProbing || isStopped || redis.status !== 'ready') return;
    isProbing = true;
    owingSinceMs ??= performance.now();
    const answer = heartbeat();
    const isInTime = (await inTime(answer)) !== undefined;
    if (!isInTime) isAnswering = false;
    const found = await answer.catch(news.failed);
    isProbing = false;
    owingSinceMs = undefined;
    if (found === undefined) return;
    count(found);
    if (isInTime) hear();
    // It was late, and may be in time again: there is no need to wait for the next look.
    else void probe();
  }

  function lookAfter(): void {
    const now = performance.now();
    if (owingSinceMs !== undefined && now - owingSinceMs >= bounds.redisSilenceMs) {
      owingSinceMs = undefined;
      redis.disconnect(true);
    }
    if (!isAnswering && now - heardMs >= bounds.redisSilenceMs) news.missed();
    if (!isAnswering || now - heardMs >= bounds.heartbeatMs) void probe();
  }

  redis.on('connect', () => {
    owingSinceMs = performance.now();
    countedMs = owingSinceMs;
  });
  redis.on('ready', () => void probe());
  redis.on('error', news.failed);
  redis.on('close', () => {
    isAnswering = false;
    wasDisconnected = true;
    owingSinceMs = undefined;
    settled.resolve();
  });
  // What Redis sent while this process was busy is read before it is judged.
  const looking = setInterval(() => setImmediate(lookAfter), bounds.redisProbeMs);
  const waiting = setTimeout(settled.resolve, bounds.redisConnectMs);

  return {
    isAnswering: () => isAnswering,
    miss: () => {
      isAnswering = false;
      void probe();
    },
    instances: () => instances,
    heldUntilMs: () => heldUntilMs,
    settled: settled.promise.then(() => {
      clearTimeout(waiting);
      if (!isAnswering) news.missed();
    }),
    stop: () => {
      isStopped = true;
      clearInterval(looking);
    },
  };
}

/** Says once that Redis is missed, and once that it is back. */
function tellChanges(log: Logger) {
  let reason = 'no answer';
  let isMissed = false;
  return {
    failed: (error: unknown) => {
      reason = reasonOf(error);
    },
    missed: () => {
      if (!isMissed)
        log.warn({ reason }, 'Redis does not answer: each instance admits its share of the rates');
      isMissed = true;
    },
    heard: () => {
      if (isMissed) log.info('Redis answers again');
      isMissed = false;
      reason = 'no answer';
    },
  };
}

/** The kind of an error and no more: Redis repeats in some what it was sent, which may be the password. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? /^[A-Z]{2,}\b/.exec(message ?? '')?.[0] ?? 'no answer';
}

/** Resolves to undefined when the answer is an error, or is overdue. */
export function inTime<T>(answer: Promise<T>, onOverdue = () => {}): Promise<T | undefined> {
  return new Promise((resolve) => {
    let giveUp: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // Where this process was busy, the answer may lie in the socket already: it is read before this runs.
      giveUp = setImmediate(() => {
        onOverdue();
        resolve(undefined);
      });
    }, bounds.redisBudgetMs);
    const settle = (value?: T) => {
      clearTimeout(timer);
      clearImmediate(giveUp);
      resolve(value);
    };
    answer.then(settle, () => settle());
  });
}
