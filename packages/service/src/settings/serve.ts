/** The settings of `serve`, and what the service is built with. */
import { limiterBounds, serveBounds } from '@partner-network/common/bounds/service';
import { postgresBounds } from '@partner-network/common/bounds/store';
import {
  orInFile,
  Problem,
  setting,
  type Values,
  wholeNumber,
} from '@partner-network/common/command-line/options';
import { instanceName } from '@partner-network/common/process';
import type { StoreOptions } from '@partner-network/store/address';
import { parseRedisUrl, type RedisAddress } from '../limiter/redis/url.ts';
import { conflictsOfTracing, tracesOf, tracingSettings } from '../tracing/settings.ts';
import { databaseConfig, databaseSettings, needsPostgres, postgresSettings } from './database.ts';
import { everyInterface, listenSettings, operationsAddress, resolveListen } from './listen.ts';

/** The error does not repeat the address, which may contain a password. */
function redisUrl(text: string): RedisAddress | Problem {
  const form = 'redis://HOST:PORT or redis-cluster://HOST:PORT,HOST:PORT, with USER:PASSWORD@ if needed';
  const more = 'With TLS, write rediss. Percent-encode special characters.';
  return parseRedisUrl(text) ?? new Problem(`must be ${form}. ${more}`);
}

/** The flags for several processes or instances. */
const sharedSettings = {
  workers: setting(
    'N',
    'WORKERS',
    wholeNumber(1, serveBounds.mostWorkers),
    1,
    `number of processes that answer requests, 1 to ${serveBounds.mostWorkers}; more than 1 needs Postgres`,
  ),
  redis: orInFile(
    setting(
      'URL',
      'REDIS_URL',
      redisUrl,
      undefined,
      'Redis or Redis Cluster for one rate limit over all instances; without it, each counts alone',
    ),
  ),
  instances: setting(
    'N',
    'INSTANCES',
    wholeNumber(1, limiterBounds.mostInstances),
    1,
    `instances, 1 to ${limiterBounds.mostInstances}: while Redis is unavailable, each admits its share`,
  ),
};

export const drainDelay = setting(
  'SECONDS',
  'DRAIN_DELAY',
  wholeNumber(0, serveBounds.mostDrainDelaySeconds),
  5,
  `seconds to keep accepting connections after SIGTERM, at most ${serveBounds.mostDrainDelaySeconds}`,
);

/** The flags for probes, metrics and the stop. */
const operationsSettings = { ...operationsAddress, 'drain-delay': drainDelay };

/** All flags of `serve`. */
export const serveSettings = {
  ...databaseSettings,
  ...postgresSettings,
  ...listenSettings,
  ...sharedSettings,
  ...operationsSettings,
  ...tracingSettings,
};

export type ServeConfig = Values<typeof serveSettings>;

/** Finds flags that are valid by themselves but not together. */
export function conflictsOfServe(config: ServeConfig): string[] {
  const remedy = 'Choose another --ops-port.';
  const samePort = isOnePort(config) ? [`--port and --ops-port are both ${config.port}. ${remedy}`] : [];
  return [...conflictsOfEngine(config), ...samePort, ...conflictsOfTracing(config)];
}

/** Finds flags that the embedded database does not support. */
export function conflictsOfEngine(config: ServeConfig): string[] {
  if (databaseConfig(config).database.engine === 'postgres') return [];
  return [
    ...(config.replica.length > 0 ? [needsPostgres('--replica')] : []),
    ...(config.workers > 1 ? [needsPostgres('--workers')] : []),
  ];
}

/** Whether both listeners have the same address. The same port on two interfaces is allowed. */
export function isOnePort(config: Pick<ServeConfig, 'host' | 'port' | 'ops-host' | 'ops-port'>): boolean {
  const hosts = [config.host, config['ops-host']].map((host) => (host === 'localhost' ? '127.0.0.1' : host));
  const isSameHost = hosts[0] === hosts[1] || hosts.some((host) => everyInterface.includes(host));
  return isSameHost && config.port !== 0 && config.port === config['ops-port'];
}

export type ServeSettings = ReturnType<typeof resolveServe>;

/** What a process that answers requests needs. */
export type ServiceSettings = Omit<ServeSettings, 'workers' | 'operations' | 'drainDelaySeconds'>;

/** Resolves the flags of `serve` once. */
export function resolveServe(config: ServeConfig) {
  const storeOptions: StoreOptions = {
    replicas: config.replica,
    connections: config.connections,
    keepsSession: config['prepared-statements'] === 'on',
    instance: instanceName(),
  };
  return {
    ...resolveListen(config),
    ...databaseConfig(config),
    storeOptions,
    redis: config.redis,
    /** Processes that share the rate limit, for use while Redis does not know it. */
    instances: config.workers * config.instances,
    /** Undefined: no traces are sent. */
    tracing: tracesOf(config),
    workers: config.workers,
    operations: { host: config['ops-host'], port: config['ops-port'] },
    drainDelaySeconds: config['drain-delay'],
  };
}

/** A sandbox is one process on an embedded database, without Redis and traces. */
export function resolveSandbox(config: Values<typeof listenSettings>, path: string): ServiceSettings {
  return {
    ...resolveListen(config),
    environment: 'sandbox',
    database: { engine: 'sqlite', path },
    storeOptions: { replicas: [], connections: postgresBounds.connections, keepsSession: true },
    redis: undefined,
    instances: 1,
    tracing: undefined,
  };
}
