/** Keys: their texts, the key of a request, and what a key and a grant allow. */
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { authBounds } from '@partner-network/common/bounds/service';
import { isPast } from '@partner-network/common/times';
import {
  adminKeyPrefixes,
  type Environment,
  type KeyPrefixes,
  keyPatternOf,
  keyPrefixes,
} from '@partner-network/contract/environments';
import type { Scope } from '@partner-network/contract/permissions';
import { refusal } from '@partner-network/http/refusal';
import { headerValues } from '@partner-network/http/request';
import type { BalancesAnswer, KeyOnFile, Reads } from '@partner-network/store/port';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const checksumCharacters = 6;

/** The CRC-32 in base 62. With big integers, checking the text of a key takes 1.8 µs instead of 0.9. */
function checksum(text: string): string {
  let sum = '';
  for (let rest = crc32(text); sum.length < checksumCharacters; rest = Math.floor(rest / 62)) {
    sum = alphabet[rest % 62] + sum;
  }
  return sum;
}

/** Makes and recognizes the keys of one kind. */
function keyTexts(prefixes: KeyPrefixes) {
  const wholeKey = new RegExp(`^${keyPatternOf(prefixes)}$`);

  function keyOf(environment: Environment, secret: string): string {
    const body = prefixes[environment] + secret;
    return body + checksum(body);
  }

  return {
    keyOf,

    /** Makes a key from 43 random characters: 256 bits. Its text is never stored, only its digest. */
    newKey: (environment: Environment): string => {
      const characters = Array.from({ length: 43 }, () => alphabet[randomInt(alphabet.length)]);
      return keyOf(environment, characters.join(''));
    },

    /** The environment of a key, read from its text without the database. Undefined for any other text. */
    environmentOf: (text: string): Environment | undefined => {
      if (!wholeKey.test(text)) return undefined;
      const body = text.slice(0, -checksumCharacters);
      if (checksum(body) !== text.slice(-checksumCharacters)) return undefined;
      return text.startsWith(prefixes.production) ? 'production' : 'sandbox';
    },
  };
}

export const { keyOf: apiKeyOf, newKey: newApiKey, environmentOf: environmentOfKey } = keyTexts(keyPrefixes);

export const {
  keyOf: adminKeyOf,
  newKey: newAdminKey,
  environmentOf: environmentOfAdminKey,
} = keyTexts(adminKeyPrefixes);

/** The form in which a key is stored. */
export function digestOfKey(key: string): Uint8Array {
  return hash('sha256', key, 'buffer');
}

const bearer = /^bearer +(\S+)$/i;

/** The text of the one key that a request carries. */
function bearerOf(rawHeaders: readonly string[]): string {
  const credentials = headerValues(rawHeaders, 'authorization');
  const text = credentials.length === 1 ? bearer.exec(credentials[0]!)?.[1] : undefined;
  if (text === undefined) throw refusal('UNAUTHORIZED');
  return text;
}

/** How keys of partners, or administrative ones, are recognized and found. */
interface KeyLookup<Key> {
  readonly prefixes: KeyPrefixes;
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
  const kind = { prefixes: keyPrefixes, environmentOf: environmentOfKey, find: reads.findKey };
  return identifyAs(kind, rawHeaders, cache, environment);
}

/** Finds the stored key that the request carries, of partners or of administrators, or refuses. */
export async function identifyAs<Key extends Validity>(
  { prefixes, environmentOf, find }: KeyLookup<Key>,
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

/** An administrative key has no partner. */
type Validity = Pick<KeyOnFile, 'isRevoked' | 'expiresAt'> & Partial<Pick<KeyOnFile, 'isPartnerDisabled'>>;

/** Refuses a stored key. In this order, so that the same state of a key always gives the same code. */
export function requireValid(key: Validity, nowMs: number): void {
  if (key.isRevoked) throw refusal('API_KEY_REVOKED');
  if (isPast(key.expiresAt, nowMs)) throw refusal('API_KEY_EXPIRED');
  if (key.isPartnerDisabled) throw refusal('PARTNER_DISABLED');
}

export function requireScope(key: KeyOnFile, scope: Scope): void {
  if (!key.scopes.includes(scope)) throw refusal('INSUFFICIENT_SCOPES', { scope });
}

/** Returns the page that an active grant opens. Refuses any other grant, by its status. */
export function requireGrant(
  answer: BalancesAnswer,
  grantId: string | undefined,
): Extract<BalancesAnswer, { grant: 'ACTIVE' }> {
  if (answer.grant === 'ACTIVE') return answer;
  throw refusal(`GRANT_${answer.grant}`, {}, grantId === undefined ? undefined : 'grant_id');
}

export type KeyCache<Key extends Validity = KeyOnFile> = ReturnType<typeof createKeyCache<Key>>;

/**
 * Caches good keys for half a second, which saves a database query and a digest per request. A revocation
 * must count within one second. Refused keys are not cached, so response times reveal nothing about them.
 */
export function createKeyCache<Key extends Validity = KeyOnFile>(elapsedMs = () => performance.now()) {
  const cache = new Map<string, Key>();
  let clearedMs = Number.NEGATIVE_INFINITY;

  return {
    /** The stored key of this text, if it was loaded within the last `keyCacheMs` and was good then. */
    get(text: string): Key | undefined {
      const now = elapsedMs();
      // Clears the whole cache at once, so entries need no individual timestamps.
      if (now - clearedMs >= authBounds.keyCacheMs || cache.size >= authBounds.keyCacheEntries) {
        cache.clear();
        clearedMs = now;
      }
      return cache.get(text);
    },

    /** Loads a key, and caches it if it is good. */
    async load(text: string, find: () => Promise<Key | undefined>): Promise<Key | undefined> {
      // A result is as old as its query: if that was sent before the last clearing, it is not cached.
      const sentMs = elapsedMs();
      const key = await find();
      // Expiry is checked on every request: it passes without a database write.
      const isGood = key !== undefined && !key.isRevoked && !key.isPartnerDisabled;
      if (isGood && sentMs >= clearedMs) cache.set(text, key);
      return key;
    },
  };
}
