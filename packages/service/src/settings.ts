/** The settings of the database, which most commands share, and those of `serve` and of a sandbox. */
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { limiterBounds, serveBounds } from '@partner-network/common/bounds/service';
import { postgresBounds } from '@partner-network/common/bounds/store';
import {
  type Option,
  oneOf,
  originUrl,
  Problem,
  plainText,
  repeatedSetting,
  setting,
  type Values,
  wholeNumber,
} from '@partner-network/common/command-line/options';
import { instanceName } from '@partner-network/common/process';
import { environments } from '@partner-network/contract/environments';
import { type ListingName, listings } from '@partner-network/contract/operations';
import {
  type DatabaseAddress,
  parseDatabaseUrl,
  postgresUrls,
  type StoreOptions,
} from '@partner-network/store/address';
import { parseRedisUrl, type RedisAddress } from './limiter/redis/url.ts';
import { conflictsOfTracing, tracesOf, tracingSettings } from './tracing/settings.ts';

const postgresForm =
  'postgres://USER:PASSWORD@HOST:PORT/NAME. In a password, write %40 for @ and %2F for /. ' +
  'After a ?, only sslmode, sslrootcert, sslcert and sslkey are allowed';

function databaseUrl(text: string): DatabaseAddress | Problem {
  return parseDatabaseUrl(text) ?? new Problem(`must be sqlite:PATH or ${postgresForm}.`);
}

function replicaUrl(text: string): string | Problem {
  return postgresUrls(text)?.[0] ?? new Problem(`must be ${postgresForm}.`);
}

/** The flags of every command that opens a database. */
export const databaseSettings = {
  environment: {
    ...setting('production|sandbox', 'ENVIRONMENT', oneOf(environments), 'production'),
    help: 'environment that the database belongs to',
  },
  database: {
    ...setting('URL', 'DATABASE_URL', databaseUrl, undefined),
    help: 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME',
    hasFile: true,
    default: 'sqlite:data/<environment>.db',
  },
};

const { mostReplicas, mostConnections } = postgresBounds;

/** The flags for a Postgres database. */
export const postgresSettings = {
  replica: {
    ...repeatedSetting('URL', 'DATABASE_REPLICA_URLS', replicaUrl, mostReplicas),
    help:
      `Postgres standby to read brands from, at most ${mostReplicas}; ` +
      'the variable takes several, separated by commas',
    hasFile: true,
  },
  connections: {
    ...setting('N', 'DATABASE_CONNECTIONS', wholeNumber(1, mostConnections), postgresBounds.connections),
    help: `connections of each process to each Postgres server, 1 to ${mostConnections}`,
  },
  'prepared-statements': {
    ...setting('on|off', 'PREPARED_STATEMENTS', oneOf(['on', 'off']), 'on'),
    help: 'set it to off for a connection pooler in transaction mode',
  },
};

export function databaseConfig({ environment, database }: Values<typeof databaseSettings>) {
  const fallback: DatabaseAddress = { engine: 'sqlite', path: `data/${environment}.db` };
  return { environment, database: database ?? fallback };
}

export function needsPostgres(flag: string): string {
  return `${flag} needs a Postgres database. Set --database to its URL.`;
}

export const largestPort = 65_535;
const portNumber = wholeNumber(0, largestPort);
/** Not empty: an empty host would listen on every interface. */
export const hostName = plainText(commandLineBounds.hostCharacters);
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export function logLevel(fallback: (typeof logLevels)[number]) {
  const help = `lowest level to log: ${logLevels.join(', ')}; info logs every request`;
  return setting('LEVEL', 'LOG_LEVEL', oneOf(logLevels), fallback, help);
}

const { mostRatePerSecond, mostInstances } = limiterBounds;

type RateSettings = { readonly [Name in ListingName as `${Name}-rate`]: Option<number> };

/** `--brands-rate`, `--balances-rate`: one for each listing of the contract. */
const rateSettings = Object.fromEntries(
  listings.map(({ name, defaultRate }) => [
    `${name}-rate`,
    {
      ...setting('N', `${name.toUpperCase()}_RATE`, wholeNumber(0, mostRatePerSecond), defaultRate),
      help: `list-${name} requests per second for each partner, at most ${mostRatePerSecond}; 0 means no limit`,
    },
  ]),
) as RateSettings;

/** The flags that `serve` and `sandbox` share. */
export const listenSettings = {
  host: setting('HOST', 'HOST', hostName, '127.0.0.1', 'address to listen on'),
  port: setting('PORT', 'PORT', portNumber, 8080, 'port to listen on; 0 takes a free port'),
  'public-url': {
    ...setting('URL', 'PUBLIC_URL', originUrl, undefined, 'origin that clients use, without a path'),
    default: 'http://<host>:<port>',
  },
  ...rateSettings,
  'log-level': logLevel('info'),
};

/** Requests per second of one partner, for each listing. */
export function ratesOf(config: Values<RateSettings>): Readonly<Partial<Record<ListingName, number>>> {
  return Object.fromEntries(listings.map(({ name }) => [name, config[`${name}-rate`]]));
}

/** The flags for the address of probes and metrics. */
export const operationsAddress = {
  'ops-host': setting('HOST', 'OPS_HOST', hostName, '127.0.0.1', 'address of health checks and metrics'),
  'ops-port': setting('PORT', 'OPS_PORT', portNumber, 9090, 'port of health checks and metrics'),
};

/** Addresses that mean every interface. A client cannot call them. */
export const everyInterface: readonly string[] = ['0.0.0.0', '::'];

function resolveListen(config: Values<typeof listenSettings>) {
  return {
    listener: { host: config.host, port: config.port },
    /** Undefined: the address that it listens on. */
    publicUrl: config['public-url'],
    rates: ratesOf(config),
    logLevel: config['log-level'],
  };
}

/** The error does not repeat the address, which may contain a password. */
function redisUrl(text: string): RedisAddress | Problem {
  const form = 'redis://HOST:PORT or redis-cluster://HOST:PORT,HOST:PORT, with USER:PASSWORD@ if needed';
  const more = 'With TLS, write rediss. Percent-encode special characters.';
  return parseRedisUrl(text) ?? new Problem(`must be ${form}. ${more}`);
}

const { mostDrainDelaySeconds, mostWorkers } = serveBounds;

export const drainDelay = {
  ...setting('SECONDS', 'DRAIN_DELAY', wholeNumber(0, mostDrainDelaySeconds), 5),
  help: `seconds to keep accepting connections after SIGTERM, at most ${mostDrainDelaySeconds}`,
};

/** All flags of `serve`. */
export const serveSettings = {
  ...databaseSettings,
  ...postgresSettings,
  ...listenSettings,
  workers: {
    ...setting('N', 'WORKERS', wholeNumber(1, mostWorkers), 1),
    help: `number of processes that answer requests, 1 to ${mostWorkers}; more than 1 needs Postgres`,
  },
  redis: {
    ...setting('URL', 'REDIS_URL', redisUrl, undefined),
    help: 'Redis or Redis Cluster for one rate limit over all instances; without it, each counts alone',
    hasFile: true,
  },
  instances: {
    ...setting('N', 'INSTANCES', wholeNumber(1, mostInstances), 1),
    help: `instances, 1 to ${mostInstances}: while Redis is unavailable, each admits its share`,
  },
  ...operationsAddress,
  'drain-delay': drainDelay,
  ...tracingSettings,
};

export type ServeConfig = Values<typeof serveSettings>;

/** Finds flags that are valid by themselves but not together. */
export function conflictsOfServe(config: ServeConfig): string[] {
  const remedy = 'Choose another --ops-port.';
  const samePort = isOnePort(config) ? [`--port and --ops-port are both ${config.port}. ${remedy}`] : [];
  return [...conflictsOfEngine(config), ...samePort, ...conflictsOfTracing(config)];
}

const oneThread =
  'The embedded database answers from one thread: about 3,000 requests per second, which one core serves.';

/** Finds flags that the embedded database does not support. */
export function conflictsOfEngine(config: ServeConfig): string[] {
  if (databaseConfig(config).database.engine === 'postgres') return [];
  return [
    ...(config.replica.length > 0 ? [needsPostgres('--replica')] : []),
    ...(config.workers > 1 ? [`${needsPostgres('--workers')} ${oneThread}`] : []),
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
