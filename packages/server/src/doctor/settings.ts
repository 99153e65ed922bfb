import { once } from 'node:events';
import { createServer, isIP } from 'node:net';
import { doctorBounds } from '../bounds/doctor.ts';
import { isPublicAddress } from '../images/public-address.ts';
import { asOne, type Finding, failed, ok, warning } from '../lib/finding.ts';
import { databaseConfig, everyInterface, isOnePort, type ServeConfig } from '../serve/settings.ts';

/** Checks settings against each other. Parsing has already checked each setting alone. */
export async function checkSettings(config: ServeConfig): Promise<Finding> {
  const { host, port, 'ops-host': opsHost, 'public-url': publicUrl } = config;
  const { environment } = databaseConfig(config);
  const isProduction = environment === 'production';
  const faults: Finding[] = [];
  if (isOnePort(config)) {
    const remedy = 'Give the operations address a port of its own.';
    faults.push(failed(`--port and --ops-port are both ${port}.`, remedy));
  }
  for (const flag of ['host', 'ops-host'] as const) {
    const code = await errorOfListening(config[flag]);
    const remedy = `Set --${flag} to an address of this machine; 0.0.0.0 means all of them.`;
    if (code !== undefined)
      faults.push(failed(`Nobody can listen on ${config[flag]} here (${code}).`, remedy));
  }
  const url = publicUrl ?? `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  // Partners get a placeholder image at this address. A sandbox may be local only.
  if (isUncallable(url, isProduction)) {
    const image = `${url}/assets/brand-placeholder.png`;
    const detail = `Partners would get ${image} for brands without an image, and cannot call it.`;
    faults.push(warning(detail, 'Set --public-url to the address that partners use.'));
  }
  // Metrics show the load, and each readiness check reads from the database: keep both private.
  if (everyInterface.includes(opsHost) || isPublicAddress(opsHost)) {
    const remedy = 'Set --ops-host to an address of your own network, or let a firewall keep its port.';
    const detail = `The operations address ${opsHost} asks nobody for a key, and others may reach it.`;
    faults.push(warning(detail, remedy));
  }
  if (isProduction && config['brands-rate'] === 0) {
    faults.push(warning('List brands has no rate limit in production.', 'Leave out --brands-rate 0.'));
  }
  return faults.length > 0 ? asOne(faults) : ok(`All settings are valid, for ${environment}.`);
}

/** Listens on a free port, because the service may use its own already. Names are not looked up: too slow. */
async function errorOfListening(host: string): Promise<string | undefined> {
  if (isIP(host) === 0) return undefined;
  const server = createServer();
  try {
    await once(server.listen(0, host), 'listening');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    server.close();
  }
}

function isUncallable(url: string, isProduction: boolean): boolean {
  const name = URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  return everyInterface.includes(name) || (isProduction && /^127\.|^::1$|(^|\.)localhost$/.test(name));
}

export function checkOpenFiles(openFiles: number | undefined): Finding {
  if (openFiles === undefined) return ok('This system sets no limit.');
  const detail = `A process may have ${openFiles} files open here`;
  if (openFiles >= doctorBounds.openFiles) return ok(`${detail}.`);
  return warning(
    `${detail}, and each caller takes one.`,
    `Allow at least ${doctorBounds.openFiles} where the service is started: ulimit -n, or LimitNOFILE of systemd.`,
  );
}
