import { randomBytes } from 'node:crypto';

const variable = 'PARTNER_NETWORK_INSTANCE';

/**
 * The random name of this instance. Workers inherit it from their supervisor, because they share one rate
 * limit. Host name and process id would not do: containers may have the same.
 */
export function instanceName(): string {
  process.env[variable] ??= randomBytes(6).toString('hex');
  return process.env[variable];
}
