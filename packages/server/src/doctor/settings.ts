import { databaseConfig, type ServeConfig } from '../config.ts';
import { failed, ok, warning } from '../finding.ts';
import type { Check } from './examination.ts';

/** Addresses that mean every interface, and that nobody can call. */
const everywhere = ['0.0.0.0', '::'];

/** What is wrong with settings that each are right; a wrong one was told already. */
export const checkSettings: Check = async ({ config }) => {
  const { environment } = databaseConfig(config);
  if (isSamePort(config)) {
    return failed(
      `--port and --ops-port are both ${config.port}.`,
      'Give the operations address a port of its own.',
    );
  }
  if (everywhere.includes(config.host) && config['public-url'] === undefined) {
    return warning(
      `Callers would be sent to http://${config.host}:${config.port} for the placeholder image.`,
      'Set --public-url to the address that callers use.',
    );
  }
  if (environment === 'production' && config['brands-rate'] === 0) {
    return warning('List brands has no rate limit in production.', 'Leave out --brands-rate 0.');
  }
  return ok(`All settings are valid, for ${environment}.`);
};

function isSamePort(config: ServeConfig): boolean {
  const hosts = [config.host, config['ops-host']];
  const isSameHost = hosts[0] === hosts[1] || hosts.some((host) => everywhere.includes(host));
  return isSameHost && config.port !== 0 && config.port === config['ops-port'];
}
