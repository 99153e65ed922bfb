/** Resolves the flags of `serve` and `sandbox` once, into what the parts of the service take. */
import type { Environment } from '@partner-network/contract/environments';
import type { ListingName } from '@partner-network/contract/operations';
import { postgresBounds } from '../bounds/postgres.ts';
import type { Values } from '../command-line/options.ts';
import { instanceName } from '../lib/instance.ts';
import type { RedisAddress } from '../limiter/redis/url.ts';
import type { DatabaseAddress, StoreOptions } from '../store/address.ts';
import { tracesOf } from '../tracing/settings.ts';
import { databaseConfig, type listenSettings, ratesOf, type ServeConfig } from './settings.ts';

interface Listener {
  readonly host: string;
  readonly port: number;
}

/** What a process that answers requests needs. */
export interface ServiceSettings {
  readonly environment: Environment;
  readonly database: DatabaseAddress;
  readonly storeOptions: StoreOptions;
  readonly listener: Listener;
  /** Undefined: the address that it listens on. */
  readonly publicUrl: string | undefined;
  readonly rates: Readonly<Partial<Record<ListingName, number>>>;
  readonly redis?: RedisAddress | undefined;
  /** Processes that share the rate limit, for use while Redis does not know it. */
  readonly instances: number;
  /** Undefined: no traces are sent. */
  readonly tracing?: ReturnType<typeof tracesOf>;
  readonly logLevel: string;
}

export interface ServeSettings extends ServiceSettings {
  readonly workers: number;
  readonly operations: Listener;
  readonly drainDelaySeconds: number;
}

export function resolveServe(config: ServeConfig): ServeSettings {
  return {
    ...resolveListen(config),
    ...databaseConfig(config),
    storeOptions: {
      replicas: config.replica,
      connections: config.connections,
      keepsSession: config['prepared-statements'] === 'on',
      instance: instanceName(),
    },
    redis: config.redis,
    instances: config.workers * config.instances,
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
    storeOptions: { replicas: [], connections: postgresBounds.postgresConnections, keepsSession: true },
    instances: 1,
  };
}

function resolveListen(config: Values<typeof listenSettings>) {
  return {
    listener: { host: config.host, port: config.port },
    publicUrl: config['public-url'],
    rates: ratesOf(config),
    logLevel: config['log-level'],
  };
}
