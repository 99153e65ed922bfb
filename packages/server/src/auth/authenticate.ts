import { type Environment, keyPrefixes } from '@partner-network/contract/environments';
import { headerValues } from '../http/headers.ts';
import { refusal } from '../http/refusal.ts';
import type { KeyOnFile, Reads } from '../store/port.ts';
import { digestOfKey, environmentOfKey } from './api-key.ts';
import type { KnownKeys } from './key-cache.ts';

const bearer = /^bearer +(\S+)$/i;

/** Who asks: the key on file, or a refusal. Anything that is not clearly a key of ours is refused. */
export async function identify(
  rawHeaders: readonly string[],
  store: Pick<Reads, 'findKey'>,
  known: KnownKeys,
  environment: Environment,
): Promise<KeyOnFile> {
  const credentials = headerValues(rawHeaders, 'authorization');
  const text = credentials.length === 1 ? bearer.exec(credentials[0]!)?.[1] : undefined;
  if (text === undefined) throw refusal('UNAUTHORIZED');
  const remembered = known.get(text);
  if (remembered !== undefined) return remembered;
  requireKeyOf(environment, text);
  const key = await known.ask(text, () => store.findKey(digestOfKey(text)));
  if (key === undefined) throw refusal('UNAUTHORIZED');
  return key;
}

function requireKeyOf(environment: Environment, text: string): void {
  const keyEnvironment = environmentOfKey(text);
  if (keyEnvironment === undefined) throw refusal('UNAUTHORIZED');
  if (keyEnvironment !== environment) {
    throw refusal('API_KEY_ENVIRONMENT_MISMATCH', { environment, prefix: keyPrefixes[environment] });
  }
}

/** Refuses a key that is on file and must not be used any more. */
export function requireValid(key: KeyOnFile, nowMs: number): void {
  if (key.isRevoked) throw refusal('API_KEY_REVOKED');
  if (key.expiresAt !== undefined && Date.parse(key.expiresAt) <= nowMs) throw refusal('API_KEY_EXPIRED');
  if (key.isPartnerDisabled) throw refusal('PARTNER_DISABLED');
}
