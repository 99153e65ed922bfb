import { limiterBounds } from '@partner-network/common/bounds/service';
import type { Redis } from 'ioredis';

export type Server = ReturnType<typeof watchServer>;

/**
 * Watches the connection to one server: the Redis, or a node of a Redis Cluster. It has three states:
 *
 * - `answering`: requests are sent to the server, and a heartbeat every `heartbeatMs`.
 * - `lost`: only a heartbeat is sent, every `redisProbeMs`, so that no request waits. A server starts here.
 * - `closed`: nothing is sent.
 *
 * answering → lost: a reply takes over `redisBudgetMs`, a heartbeat fails, or the connection closes.
 * lost → answering: a heartbeat is answered within `redisBudgetMs`.
 * answering, lost → closed: `close()`.
 *
 * The driver connects again by itself. It closes a connection that owes a reply for `redisSilenceMs`, and
 * opens the next one after `redisReconnectMs`.
 */
export function watchServer(
  redis: Redis,
  beat: (wasAnswering: boolean) => Promise<unknown>,
  report: { readonly lost: (reason: string) => void; readonly back: () => void },
) {
  let state: 'answering' | 'lost' | 'closed' = 'lost';
  let reason: string | undefined;
  let nextHeartbeat: NodeJS.Timeout | undefined;

  function enter(next: 'answering' | 'lost'): void {
    state = next;
    clearTimeout(nextHeartbeat);
    const { heartbeatMs, redisProbeMs } = limiterBounds;
    nextHeartbeat = setTimeout(heartbeat, next === 'answering' ? heartbeatMs : redisProbeMs);
  }

  function lose(): void {
    if (state === 'closed') return;
    enter('lost');
    report.lost(reason ?? 'no answer');
  }

  function noteReason(error: unknown): void {
    reason = kindOf(error) ?? reason;
  }

  async function heartbeat(): Promise<void> {
    clearTimeout(nextHeartbeat);
    const reply = beat(state === 'answering');
    reply.catch(noteReason);
    if ((await inTime(reply)) === undefined) return lose();
    if (state === 'closed') return;
    reason = undefined;
    enter('answering');
    report.back();
  }

  redis.on('error', noteReason);
  redis.on('close', lose);
  return {
    redis,
    isAnswering: () => state === 'answering',
    lose,
    noteReason,
    heartbeat,
    /** Sends the first heartbeat later. */
    start(delayMs: number): void {
      nextHeartbeat = setTimeout(heartbeat, delayMs);
    },
    close(): void {
      state = 'closed';
      clearTimeout(nextHeartbeat);
    },
  };
}

/** Resolves with Redis's reply, or with undefined if the reply is an error or takes over `redisBudgetMs`. */
export function inTime<T>(reply: Promise<T>, onLate = () => {}): Promise<T | undefined> {
  return new Promise((resolve) => {
    let giveUp: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // If this process was busy, the reply may already be in the socket. Node reads it before this runs.
      giveUp = setImmediate(() => {
        onLate();
        resolve(undefined);
      });
    }, limiterBounds.redisBudgetMs);
    const settle = (value?: T) => {
      clearTimeout(timer);
      clearImmediate(giveUp);
      resolve(value);
    };
    reply.then(settle, () => settle());
  });
}

/**
 * The kind of a Redis or network error, such as WRONGPASS or ECONNREFUSED. The rest of the message must not
 * be logged: Redis repeats in some errors what it was sent, which may be the password.
 */
export function kindOf(error: unknown): string | undefined {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? /^[A-Z]{2,}\b/.exec(message ?? '')?.[0];
}
