import { once } from 'node:events';
import { createServer, isIP } from 'node:net';
import { doctorBounds } from '../bounds/doctor.ts';
import { isPublicAddress } from '../images/public-address.ts';
import { asOne, type Finding, failed, ok, warning } from '../lib/finding.ts';
import { databaseConfig, everyInterface, isOnePort, type ServeConfig } from '../serve/settings.ts';
import type { Check } from './check.ts';

/** Checks settings against each other. Each one alone was checked when it was parsed. */
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

/** Listens on a free port, because the service may use its own already. Names are not looked up: too slow. */
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

/** The public URL is sent to partners as the image of a brand without one. A sandbox may be local only. */
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

/** Metrics show the load, and each readiness check reads from the database: keep both private. */
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

export const checkOpenFiles: Check = async ({ openFiles }) => {
  if (openFiles === undefined) return ok('This system sets no limit.');
  const detail = `A process may have ${openFiles} files open here`;
  if (openFiles >= doctorBounds.openFiles) return ok(`${detail}.`);
  return warning(
    `${detail}, and each caller takes one.`,
    `Allow at least ${doctorBounds.openFiles} where the service is started: ulimit -n, or LimitNOFILE of systemd.`,
  );
};
