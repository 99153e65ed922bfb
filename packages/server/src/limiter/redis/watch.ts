import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { limiterBounds } from '../../bounds/limiter.ts';

/** Whether Redis is there to be asked, and what it said last of the other instances. */
interface RedisWatch {
  /** False from the moment that something was not answered in time until a heartbeat is. */
  isAnswering(): boolean;
  /** To be told when something was not answered in time. */
  miss(): void;
  instances(): number;
  unknownUntilMs(): number;
  heldUntilMs(): number;
  /** Resolves when Redis has answered for the first time, or when it is plain that it does not. */
  readonly settled: Promise<void>;
  /** No heartbeat is sent after this. */
  stop(): void;
}

/**
 * Sends a heartbeat every second, which Redis answers with the number of instances; while Redis is missed,
 * more often, and one at a time. A connection on which nothing comes back is made anew.
 *
 * When Redis is missed, nobody here knows what it admitted elsewhere within the last second, and when it is
 * back, it does not know what instances admitted without it.
 */
export function watchRedis(
  redis: Redis,
  heartbeat: (isApart: boolean) => Promise<number>,
  fewest: number,
  log: Logger,
): RedisWatch {
  let isAnswering = false;
  let wasAnswering = false;
  let isProbing = false;
  let isStopped = false;
  // Where there are others, they and one that was here before may have admitted what Redis has forgotten.
  let wasDisconnected = fewest > 1;
  let instances = fewest;
  /** When there were last as many instances as that, for all we know. */
  let countedMs = 0;
  let heldUntilMs = 0;
  let heardMs = performance.now();
  let missedMs = heardMs;
  let unknownUntilMs = fewest > 1 ? missedMs + limiterBounds.rateWindowMs : 0;
  /** When this was last looked after: one that stood still since then knows nothing of the others. */
  let lookedMs = heardMs;
  /** When Redis was told that this instance decides alone. */
  let toldMs: number | undefined;
  /** Since when the connection owes its first answer, or the answer to a heartbeat. */
  let owingSinceMs: number | undefined;
  const settled = Promise.withResolvers<void>();
  const news = tellChanges(log);

  function lose(): void {
    if (!isAnswering) return;
    isAnswering = false;
    wasAnswering = true;
    missedMs = performance.now();
    unknownUntilMs = missedMs + limiterBounds.rateWindowMs;
    toldMs = undefined;
  }

  function hear(): void {
    heardMs = performance.now();
    const isBack = !isAnswering;
    isAnswering = true;
    if (isBack) {
      const wasLong = heardMs >= missedMs + limiterBounds.rateWindowMs;
      // One that is alone admits at once when Redis is missed; of several none does within the first second.
      const hasAdmitted = wasLong || (wasAnswering && instances === 1);
      if (wasDisconnected || hasAdmitted) heldUntilMs = heardMs + limiterBounds.rateHoldMs;
      // Without a new connection it is the one that we know, and knows all that it admitted.
      if (!wasDisconnected) unknownUntilMs = 0;
      wasDisconnected = false;
    }
    news.heard();
    settled.resolve();
  }

  /** Fewer are believed after a while only: after a new connection the others may not be back yet. */
  function count(counted: number): void {
    const now = performance.now();
    const found = Math.max(counted, fewest);
    if (found < instances && now - countedMs < limiterBounds.instanceStaleMs) return;
    instances = found;
    countedMs = now;
  }

  /** Who slept for a second while Redis was missed may be the only one who has not heard that it is back. */
  function knownFromMs(now: number): number {
    const hasSlept = now - lookedMs >= limiterBounds.rateWindowMs;
    return hasSlept && !isAnswering ? now + limiterBounds.rateWindowMs : unknownUntilMs;
  }

  async function probe(): Promise<void> {
    if (isProbing || isStopped || redis.status !== 'ready') return;
    isProbing = true;
    owingSinceMs ??= performance.now();
    // Not at once: most that are late are in time again the next time.
    const isApart = !isAnswering && performance.now() - missedMs >= limiterBounds.redisProbeMs;
    const answer = heartbeat(isApart);
    const isInTime = (await inTime(answer)) !== undefined;
    if (!isInTime) lose();
    const found = await answer.catch(news.failed);
    isProbing = false;
    owingSinceMs = undefined;
    if (found === undefined) return;
    count(found);
    if (isApart && toldMs === undefined) {
      toldMs = performance.now();
      // From now on the others leave our share to us; what they were admitted before counts for a second.
      unknownUntilMs = toldMs + limiterBounds.rateWindowMs;
    }
    if (isInTime) hear();
    // It was late, and may be in time again: there is no need to wait for the next look.
    else void probe();
  }

  function lookAfter(): void {
    const now = performance.now();
    unknownUntilMs = knownFromMs(now);
    lookedMs = now;
    if (owingSinceMs !== undefined && now - owingSinceMs >= limiterBounds.redisSilenceMs) {
      owingSinceMs = undefined;
      redis.disconnect(true);
    }
    if (!isAnswering && now - heardMs >= limiterBounds.redisSilenceMs) news.missed();
    if (!isAnswering || now - heardMs >= limiterBounds.heartbeatMs) void probe();
  }

  redis.on('connect', () => {
    owingSinceMs = performance.now();
    countedMs = owingSinceMs;
  });
  redis.on('ready', () => void probe());
  redis.on('error', news.failed);
  redis.on('close', () => {
    lose();
    wasDisconnected = true;
    owingSinceMs = undefined;
    settled.resolve();
  });
  // What Redis sent while this process was busy is read before it is judged.
  const looking = setInterval(() => setImmediate(lookAfter), limiterBounds.redisProbeMs);
  const waiting = setTimeout(settled.resolve, limiterBounds.redisConnectMs);

  return {
    isAnswering: () => isAnswering,
    miss: () => {
      lose();
      void probe();
    },
    instances: () => instances,
    unknownUntilMs: () => knownFromMs(performance.now()),
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
    }, limiterBounds.redisBudgetMs);
    const settle = (value?: T) => {
      clearTimeout(timer);
      clearImmediate(giveUp);
      resolve(value);
    };
    answer.then(settle, () => settle());
  });
}
