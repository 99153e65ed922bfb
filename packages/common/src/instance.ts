import { randomBytes } from 'node:crypto';

const variable = 'PARTNER_NETWORK_INSTANCE';

/** A random name, which workers inherit. Containers may have the same host name and process id. */
export function instanceName(): string {
  process.env[variable] ||= randomBytes(6).toString('hex');
  return process.env[variable];
}
