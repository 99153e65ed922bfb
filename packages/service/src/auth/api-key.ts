/** The texts of keys: API keys of partners, and administrative keys. */
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  adminKeyPrefixes,
  type Environment,
  type KeyPrefixes,
  keyPatternOf,
  keyPrefixes,
} from '@partner-network/contract/environments';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretCharacters = 43;
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

    /** Makes a key from 256 random bits. Its text is never stored, only its digest. */
    newKey: (environment: Environment): string => {
      let secret = '';
      for (let rest = BigInt(`0x${randomBytes(32).toString('hex')}`); rest > 0n; rest /= 62n) {
        secret = alphabet[Number(rest % 62n)] + secret;
      }
      return keyOf(environment, secret.padStart(secretCharacters, '0'));
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
