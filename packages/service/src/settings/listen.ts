/** The settings of the address for partners, which a sandbox has too, and of the one for operators. */
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { limiterBounds } from '@partner-network/common/bounds/service';
import {
  type Option,
  oneOf,
  originUrl,
  plainText,
  setting,
  type Values,
  wholeNumber,
} from '@partner-network/common/command-line/options';
import { type ListingName, listings } from '@partner-network/contract/operations';

export const largestPort = 65_535;
/** Not empty: an empty host would listen on every interface. */
export const hostName = plainText(commandLineBounds.hostCharacters);
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export function logLevel(fallback: (typeof logLevels)[number]) {
  const help = `lowest level to log: ${logLevels.join(', ')}; info logs every request`;
  return setting('LEVEL', 'LOG_LEVEL', oneOf(logLevels), fallback, help);
}

type RateSettings = { readonly [Name in ListingName as `${Name}-rate`]: Option<number> };

/** `--brands-rate`, `--balances-rate`: one for each listing of the contract. */
const rateSettings = Object.fromEntries(
  listings.map(({ name, defaultRate }) => [
    `${name}-rate`,
    setting(
      'N',
      `${name.toUpperCase()}_RATE`,
      wholeNumber(0, limiterBounds.mostRatePerSecond),
      defaultRate,
      `list-${name} requests per second for each partner, ` +
        `at most ${limiterBounds.mostRatePerSecond}; 0 means no limit`,
    ),
  ]),
) as RateSettings;

/** The flags that `serve` and `sandbox` share. */
export const listenSettings = {
  host: setting('HOST', 'HOST', hostName, '127.0.0.1', 'address to listen on'),
  port: setting('PORT', 'PORT', wholeNumber(0, largestPort), 8080, 'port to listen on; 0 takes a free port'),
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
  'ops-port': setting(
    'PORT',
    'OPS_PORT',
    wholeNumber(0, largestPort),
    9090,
    'port of health checks and metrics',
  ),
};

/** Addresses that mean every interface. A client cannot call them. */
export const everyInterface: readonly string[] = ['0.0.0.0', '::'];

export function resolveListen(config: Values<typeof listenSettings>) {
  return {
    listener: { host: config.host, port: config.port },
    /** Undefined: the address that it listens on. */
    publicUrl: config['public-url'],
    rates: ratesOf(config),
    logLevel: config['log-level'],
  };
}
