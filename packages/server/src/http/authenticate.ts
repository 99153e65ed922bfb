import { type Environment, keyPrefixes } from '@partner-network/contract/environments';
import { digestOfKey, environmentOfKey } from '../api-key.ts';
import type { KeyOnFile, Reads } from '../store/port.ts';
import { headerValues } from './headers.ts';
import { refusal } from './refusal.ts';

const bearer = /^bearer +(\S+)$/i;

/** Who asks: the key on file, or a refusal. Anything that is not clearly a key of ours is refused. */
export async function identify(
  rawHeaders: readonly string[],
  store: Pick<Reads, 'findKey'>,
  environment: Environment,
): Promise<KeyOnFile> {
  const credentials = headerValues(rawHeaders, 'authorization');
  const text = credentials.length === 1 ? bearer.exec(credentials[0]!)?.[1] : undefined;
  const keyEnvironment = text === undefined ? undefined : environmentOfKey(text);
  if (text === undefined || keyEnvironment === undefined) throw refusal('UNAUTHORIZED');
  if (keyEnvironment !== environment) {
    throw refusal('API_KEY_ENVIRONMENT_MISMATCH', { environment, prefix: keyPrefixes[environment] });
  }

  const key = await store.findKey(digestOfKey(text));
  if (key === undefined) throw refusal('UNAUTHORIZED');
  return key;
}

/** Refuses a key that is on file and must not be used any more. */
export function requireValid(key: KeyOnFile, nowMs: number): void {
  if (key.isRevoked) throw refusal('API_KEY_REVOKED');
  if (key.expiresAt !== undefined && Date.parse(key.expiresAt) <= nowMs) throw refusal('API_KEY_EXPIRED');
  if (key.isPartnerDisabled) throw refusal('PARTNER_DISABLED');
}
