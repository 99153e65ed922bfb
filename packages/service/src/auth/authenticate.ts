import { isPast } from '@partner-network/common/times';
import { type Environment, keyPrefixes } from '@partner-network/contract/environments';
import { refusal } from '@partner-network/http/refusal';
import { headerValues } from '@partner-network/http/request';
import type { KeyOnFile, Reads } from '@partner-network/store/port';
import { digestOfKey, environmentOfKey } from './api-key.ts';
import type { KeyCache } from './key-cache.ts';

const bearer = /^bearer +(\S+)$/i;

/** The text of the one key that a request carries. */
function bearerOf(rawHeaders: readonly string[]): string {
  const credentials = headerValues(rawHeaders, 'authorization');
  const text = credentials.length === 1 ? bearer.exec(credentials[0]!)?.[1] : undefined;
  if (text === undefined) throw refusal('UNAUTHORIZED');
  return text;
}

/** A kind of keys: those of partners, or administrative ones. */
interface KeyKind<Key> {
  readonly prefixes: Readonly<Record<Environment, string>>;
  environmentOf(text: string): Environment | undefined;
  find(digest: Uint8Array): Promise<Key | undefined>;
}

/** Finds the stored key of a partner that the request carries, or refuses. */
export function identify(
  rawHeaders: readonly string[],
  reads: Pick<Reads, 'findKey'>,
  cache: KeyCache,
  environment: Environment,
): Promise<KeyOnFile> {
  const find = (digest: Uint8Array) => reads.findKey(digest);
  const kind = { prefixes: keyPrefixes, environmentOf: environmentOfKey, find };
  return identifyAs(kind, rawHeaders, cache, environment);
}

/** Finds the stored key of this kind that the request carries, or refuses. */
export async function identifyAs<Key>(
  { prefixes, environmentOf, find }: KeyKind<Key>,
  rawHeaders: readonly string[],
  cache: KeyCache<Key>,
  environment: Environment,
): Promise<Key> {
  const text = bearerOf(rawHeaders);
  const cached = cache.get(text);
  if (cached !== undefined) return cached;
  const keyEnvironment = environmentOf(text);
  if (keyEnvironment === undefined) throw refusal('UNAUTHORIZED');
  if (keyEnvironment !== environment) {
    throw refusal('API_KEY_ENVIRONMENT_MISMATCH', { environment, prefix: prefixes[environment] });
  }
  const key = await cache.load(text, () => find(digestOfKey(text)));
  if (key === undefined) throw refusal('UNAUTHORIZED');
  return key;
}

/** Refuses a stored key. In this order, so that the same state of a key always gives the same code. */
export function requireValid(key: Validity, nowMs: number): void {
  if (key.isRevoked) throw refusal('API_KEY_REVOKED');
  if (isPast(key.expiresAt, nowMs)) throw refusal('API_KEY_EXPIRED');
  if (key.isPartnerDisabled) throw refusal('PARTNER_DISABLED');
}

type Validity = Pick<KeyOnFile, 'isRevoked' | 'expiresAt'> & Partial<Pick<KeyOnFile, 'isPartnerDisabled'>>;
