/** The settings of `admin`. */
import {
  addedIn,
  originUrl,
  setting,
  type Values,
  wholeNumber,
} from '@partner-network/common/command-line/options';
import { originOf } from '@partner-network/common/text';
import {
  databaseConfig,
  databaseSettings,
  drainDelay,
  hostName,
  isOnePort,
  largestPort,
  logLevel,
  postgresSettings,
} from '@partner-network/service/settings';
import { conflictsOfOidc, hasProvider, type OidcSettings, oidcSettings } from '../identity/settings.ts';

const port = wholeNumber(0, largestPort);
const { connections, 'prepared-statements': preparedStatements } = postgresSettings;

const ownSettings = addedIn('0.2.0', {
  ...databaseSettings,
  connections,
  'prepared-statements': preparedStatements,
  host: setting('HOST', 'ADMIN_HOST', hostName, '127.0.0.1', 'address to listen on'),
  port: setting('PORT', 'ADMIN_PORT', port, 8090, 'port to listen on; 0 takes a free port'),
  'public-url': {
    ...setting('URL', 'ADMIN_PUBLIC_URL', originUrl, undefined, 'origin that clients use, without a path'),
    default: 'http://<host>:<port>',
  },
  'ops-host': setting(
    'HOST',
    'ADMIN_OPS_HOST',
    hostName,
    '127.0.0.1',
    'address of health checks and metrics',
  ),
  'ops-port': setting('PORT', 'ADMIN_OPS_PORT', port, 9091, 'port of health checks and metrics'),
  'log-level': logLevel('info'),
  'drain-delay': drainDelay,
});

export const adminSettings = { ...ownSettings, ...oidcSettings };

type AdminConfig = Values<typeof adminSettings>;

export function conflictsOfAdmin(config: AdminConfig): string[] {
  const onePort = `--port and --ops-port are both ${config.port}. Choose another --ops-port.`;
  return [
    ...(isOnePort(config) ? [onePort] : []),
    ...conflictsOfOidc(config, config['public-url'] ?? originOf(config.host, config.port)),
  ];
}

/** Resolves the flags of `admin` once. */
export function resolveAdmin(config: AdminConfig) {
  const oidc: OidcSettings | undefined = hasProvider(config) ? config : undefined;
  return {
    ...databaseConfig(config),
    storeOptions: {
      replicas: [],
      connections: config.connections,
      keepsSession: config['prepared-statements'] === 'on',
    },
    listener: { host: config.host, port: config.port },
    publicUrl: config['public-url'],
    oidc,
    operations: { host: config['ops-host'], port: config['ops-port'] },
    logLevel: config['log-level'],
    drainDelaySeconds: config['drain-delay'],
  };
}
