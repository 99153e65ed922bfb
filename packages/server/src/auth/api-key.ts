import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Environment, keyPattern, keyPrefixes } from '@partner-network/contract/environments';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretCharacters = 43;
const checksumCharacters = 6;
const wholeKey = new RegExp(`^${keyPattern}$`);

function toBase62(number: bigint, characters: number): string {
  let text = '';
  for (let rest = number; rest > 0n; rest /= 62n) text = alphabet[Number(rest % 62n)] + text;
  return text.padStart(characters, '0');
}

function checksum(text: string): string {
  return toBase62(BigInt(crc32(text)), checksumCharacters);
}

/** Makes a key from 256 random bits. Its text is never stored, only its digest. */
export function newApiKey(environment: Environment): string {
  return apiKeyOf(environment, toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), secretCharacters));
}

export function apiKeyOf(environment: Environment, secret: string): string {
  const body = keyPrefixes[environment] + secret;
  return body + checksum(body);
}

/** The environment of a key, read from its text without the database. Undefined if the text is not a key. */
export function environmentOfKey(text: string): Environment | undefined {
  if (!wholeKey.test(text)) return undefined;
  const body = text.slice(0, -checksumCharacters);
  if (checksum(body) !== text.slice(-checksumCharacters)) return undefined;
  return text.startsWith(keyPrefixes.production) ? 'production' : 'sandbox';
}

/** The form in which a key is stored. */
export function digestOfKey(key: string): Uint8Array {
  return hash('sha256', key, 'buffer');
}
