/** The settings: flags, variables and defaults. Each command takes those that concern it. */
import { type Environment, environments } from '@partner-network/contract/environments';
import { brandsPerSecond } from '@partner-network/contract/limits';
import { bounds } from './bounds.ts';
import {
  httpUrl,
  oneOf,
  Problem,
  plainText,
  setting,
  type Values,
  wholeNumber,
} from './command-line/options.ts';
import { type DatabaseAddress, parseDatabaseUrl } from './store/open.ts';

const largestPort = 65_535;
/** An empty one would listen on every interface. */
const hostName = plainText(bounds.hostCharacters);
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

function databaseUrl(text: string): DatabaseAddress | Problem {
  return parseDatabaseUrl(text) ?? new Problem('must be sqlite:PATH, such as sqlite:data/production.db.');
}

/** Which database, and what it must be. */
export const databaseSettings = {
  environment: setting(
    'production|sandbox',
    'ENVIRONMENT',
    oneOf(environments),
    'production',
    'which environment the database belongs to (production)',
  ),
  database: setting(
    'URL',
    'DATABASE_URL',
    databaseUrl,
    undefined,
    'sqlite:PATH (sqlite:data/<environment>.db)',
  ),
};

export function logLevel(fallback: (typeof logLevels)[number]) {
  const help = `${logLevels.join(', ')} (${fallback}); info logs a line for each request`;
  return setting('LEVEL', 'LOG_LEVEL', oneOf(logLevels), fallback, help);
}

/** Where and how to serve. */
export const listenSettings = {
  host: setting('HOST', 'HOST', hostName, '127.0.0.1', 'address to listen on (127.0.0.1)'),
  port: setting('PORT', 'PORT', wholeNumber(0, largestPort), 8080, 'port to listen on (8080)'),
  'public-url': setting(
    'URL',
    'PUBLIC_URL',
    httpUrl,
    undefined,
    'address that callers reach it by (http://<host>:<port>)',
  ),
  'brands-rate': setting(
    'N',
    'BRANDS_RATE',
    wholeNumber(0, bounds.ratePerSecond),
    brandsPerSecond,
    'list-brands requests a second of one partner; 0 is off (50)',
  ),
  'balances-rate': setting(
    'N',
    'BALANCES_RATE',
    wholeNumber(0, bounds.ratePerSecond),
    0,
    'list-balances requests a second of one partner; 0 is off (0)',
  ),
  'log-level': logLevel('info'),
};

/** How to be watched and stopped. */
export const operationsSettings = {
  'ops-host': setting('HOST', 'OPS_HOST', hostName, '127.0.0.1', 'operations address (127.0.0.1)'),
  'ops-port': setting('PORT', 'OPS_PORT', wholeNumber(0, largestPort), 9090, 'operations port (9090)'),
  'drain-delay': setting(
    'SECONDS',
    'DRAIN_DELAY',
    wholeNumber(0, bounds.drainDelaySeconds),
    5,
    'seconds to go on accepting after SIGTERM (5)',
  ),
};

interface DatabaseConfig {
  readonly environment: Environment;
  readonly database: DatabaseAddress;
}

export function databaseConfig({ environment, database }: Values<typeof databaseSettings>): DatabaseConfig {
  const fallback: DatabaseAddress = { engine: 'sqlite', path: `data/${environment}.db` };
  return Object.freeze({ environment, database: database ?? fallback });
}
