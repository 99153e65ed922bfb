import { randomBytes } from 'node:crypto';

const variable = 'PARTNER_NETWORK_INSTANCE';

/**
 * Which instance this process is, or is of: workers inherit the name from their supervisor, because they
 * count the rate limit together. At random, for containers may share a host's name and a process id.
 */
export function instanceName(): string {
  process.env[variable] ??= randomBytes(6).toString('hex');
  return process.env[variable];
}
