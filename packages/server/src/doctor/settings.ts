import { once } from 'node:events';
import { createServer, isIP } from 'node:net';
import { isPublicAddress } from '../images/public-address.ts';
import { asOne, type Finding, failed, ok, warning } from '../lib/finding.ts';
import { databaseConfig, everyInterface, isOnePort, type ServeConfig } from '../serve/settings.ts';
import type { Check } from './examination.ts';

/** What is wrong with settings that each are right; a wrong one was told already. */
export const checkSettings: Check = async ({ config }) => {
  const { environment } = databaseConfig(config);
  const isProduction = environment === 'production';
  const faults = [
    samePort(config),
    await foreignHost('--host', config.host),
    await foreignHost('--ops-host', config['ops-host']),
    uncallable(config, isProduction),
    openOperations(config['ops-host']),
    isProduction && config['brands-rate'] === 0 ? unlimited : undefined,
  ].filter((fault) => fault !== undefined);
  return faults.length > 0 ? asOne(faults) : ok(`All settings are valid, for ${environment}.`);
};

const unlimited = warning('List brands has no rate limit in production.', 'Leave out --brands-rate 0.');

function samePort(config: ServeConfig): Finding | undefined {
  if (!isOnePort(config)) return undefined;
  return failed(
    `--port and --ops-port are both ${config.port}.`,
    'Give the operations address a port of its own.',
  );
}

/** Tried on a free port: the service may be there already. Names are not looked up, which may take long. */
async function foreignHost(flag: string, host: string): Promise<Finding | undefined> {
  if (isIP(host) === 0) return undefined;
  const server = createServer();
  try {
    await once(server.listen(0, host), 'listening');
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const remedy = `Set ${flag} to an address of this machine; 0.0.0.0 means all of them.`;
    return failed(`Nobody can listen on ${host} here (${code}).`, remedy);
  } finally {
    server.close();
  }
}

/** Where partners are sent for the image of a brand without one. A sandbox may be for this machine alone. */
function uncallable(config: ServeConfig, isProduction: boolean): Finding | undefined {
  const { host, port, 'public-url': given } = config;
  const url = given ?? `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const name = URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  if (!everyInterface.includes(name) && !(isProduction && isLoopback(name))) return undefined;
  return warning(
    `Partners would get ${url}/assets/brand-placeholder.png for brands without an image, and cannot call it.`,
    'Set --public-url to the address that partners use.',
  );
}

/** Metrics tell how busy we are, and each question whether we are ready is one to the database. */
function openOperations(host: string): Finding | undefined {
  if (!everyInterface.includes(host) && !isPublicAddress(host)) return undefined;
  return warning(
    `The operations address ${host} asks nobody for a key, and others may reach it.`,
    'Set --ops-host to an address of your own network, or let a firewall keep its port.',
  );
}

function isLoopback(name: string): boolean {
  return /^127\.|(^|\.)localhost$/.test(name) || name === '::1';
}
