/** The driver's client of a Redis or a Redis Cluster, with the state of each server. */
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limiterBounds } from '@partner-network/common/bounds/service';
import { within } from '@partner-network/common/timeout';
import type { Cluster, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import type { RedisAddress } from './url.ts';

export type Server = ReturnType<typeof watchServer>;

/** The Lua scripts, which the driver makes methods. */
interface Scripts {
  admit(admissions: string, ratePerSecond: number, windowMicros: number, lifeMs: number): Promise<unknown>;
  heartbeat(instances: string, instance: string, staleMs: number): Promise<number>;
}

/** `watch` is called for the Redis, or for each node that the cluster has or gets. */
export function createClient(
  { Cluster, Command, Redis }: Pick<typeof import('ioredis'), 'Cluster' | 'Command' | 'Redis'>,
  address: RedisAddress,
  watch: (redis: Redis) => Server,
) {
  if (address.nodes === undefined) {
    const redis = new Redis({ ...optionsOf(address), lazyConnect: true }) as Redis & Scripts;
    const server = watch(redis);
    const connect = () => redis.connect().catch(server.noteReason);
    return {
      redis,
      connect,
      disconnect: () => redis.disconnect(),
      servers: () => [server],
      serverOf: () => server,
      isWhole: server.isAnswering,
    };
  }
  const redis = new Cluster([...address.nodes], clusterOptionsOf(address)) as Cluster & Scripts;
  const servers = new Map<string, Server>();
  redis.on('+node', (node: Redis) => {
    servers.get(nameOf(node))?.close();
    const server = watch(node);
    servers.set(nameOf(node), server);
    // A node that was lost may have forgotten its admissions.
    server.start(redis.status === 'ready' ? limiterBounds.redisReconnectMs : 0);
  });
  redis.on('-node', (node: Redis) => {
    const server = servers.get(nameOf(node));
    if (server?.redis === node) server.close();
    // The driver connects to a lost node when the cluster still names it.
    if (redis.status === 'ready') redis.refreshSlotsCache();
  });
  // The nodes report their errors.
  redis.on('error', () => {});
  // Not the driver's own timer, which starts again if the client is closed while it asks.
  const refreshing = setInterval(() => redis.refreshSlotsCache(), limiterBounds.clusterRefreshMs).unref();
  const slotOf = (key: string) => new Command('get', [key]).getSlot()!;
  const isAnswering = (name = '') => servers.get(name)?.isAnswering() === true;
  return {
    redis,
    connect: () => within(limiterBounds.redisConnectMs, redis.connect(), Error).catch(() => {}),
    disconnect: () => {
      clearInterval(refreshing);
      redis.disconnect();
    },
    servers: () => [...servers.values()],
    /** The node of a key. Undefined while none is known. */
    serverOf: (key: string) => servers.get(redis.slots[slotOf(key)]?.[0] ?? ''),
    /** Whether the primary of every slot answers. */
    isWhole: () => redis.slots.every(([name]) => isAnswering(name)),
  };
}

/** As the driver names a node in its list of slots. */
export const nameOf = ({ options }: Redis) => `${options.host}:${options.port}`;

export function optionsOf({ nodes: _, ...address }: RedisAddress): RedisOptions {
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

/** The same behaviour for each node. A request follows its slot to another node, and is never sent again. */
export function clusterOptionsOf(address: RedisAddress): ClusterOptions {
  const { host: _, port: __, db: ___, scripts, retryStrategy, ...redisOptions } = optionsOf(address);
  return {
    redisOptions,
    scripts,
    lazyConnect: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: () => limiterBounds.redisReconnectMs,
    // Keeps the host's name: the certificate is for the name, not for the address.
    dnsLookup: (host, callback) => callback(null, host),
  };
}

function scriptOf(name: string): { lua: string; numberOfKeys: number } {
  return { lua: readFileSync(new URL(`${name}.lua`, import.meta.url), 'utf8'), numberOfKeys: 1 };
}

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
export async function inTime<T>(reply: Promise<T>, onLate = () => {}): Promise<T | undefined> {
  const settled = reply.catch(() => undefined);
  try {
    return await within(limiterBounds.redisBudgetMs, settled, Error);
  } catch {
    // If this process was busy, the reply may already be in the socket. Node reads it before the next turn.
    const late = Symbol();
    const result = await Promise.race([settled, nextTurn(late)]);
    return result === late ? void onLate() : (result as T | undefined);
  }
}

/**
 * The kind of a Redis or network error, such as WRONGPASS or ECONNREFUSED. The rest of the message must not
 * be logged: Redis repeats in some errors what it was sent, which may be the password.
 */
export function kindOf(error: unknown): string | undefined {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? /^[A-Z]{2,}\b/.exec(message ?? '')?.[0];
}
