import { type Environment, keyPrefixes } from '@partner-network/contract/environments';
import { refusal } from '@partner-network/http/refusal';
import { headerValues } from '@partner-network/http/request';
import type { KeyOnFile, Reads } from '@partner-network/store/port';
import { digestOfKey, environmentOfKey } from './api-key.ts';
import type { KeyCache } from './key-cache.ts';

const bearer = /^bearer +(\S+)$/i;

/** The text of the one key that a request carries. */
export function bearerOf(rawHeaders: readonly string[]): string {
  const credentials = headerValues(rawHeaders, 'authorization');
  const text = credentials.length === 1 ? bearer.exec(credentials[0]!)?.[1] : undefined;
  if (text === undefined) throw refusal('UNAUTHORIZED');
  return text;
}

/** Finds the stored key that the request carries, or refuses. */
export async function identify(
  rawHeaders: readonly string[],
  store: Pick<Reads, 'findKey'>,
  cache: KeyCache,
  environment: Environment,
): Promise<KeyOnFile> {
  const text = bearerOf(rawHeaders);
  const cached = cache.get(text);
  if (cached !== undefined) return cached;
  const keyEnvironment = environmentOfKey(text);
  if (keyEnvironment === undefined) throw refusal('UNAUTHORIZED');
  if (keyEnvironment !== environment) {
    throw refusal('API_KEY_ENVIRONMENT_MISMATCH', { environment, prefix: keyPrefixes[environment] });
  }
  const key = await cache.load(text, () => store.findKey(digestOfKey(text)));
  if (key === undefined) throw refusal('UNAUTHORIZED');
  return key;
}

/** Refuses a stored key that is revoked or expired, or whose partner is disabled. */
export function requireValid(key: KeyOnFile, nowMs: number): void {
  if (key.isRevoked) throw refusal('API_KEY_REVOKED');
  if (key.expiresAt !== undefined && Date.parse(key.expiresAt) <= nowMs) throw refusal('API_KEY_EXPIRED');
  if (key.isPartnerDisabled) throw refusal('PARTNER_DISABLED');
}
