import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Environment, keyPrefixes } from '@partner-network/contract/environments';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretCharacters = 43;
const checksumCharacters = 6;
const shape = /^pn_(live|test)_[0-9A-Za-z]{49}$/;

function toBase62(number: bigint, characters: number): string {
  let text = '';
  for (let rest = number; rest > 0n; rest /= 62n) text = alphabet[Number(rest % 62n)] + text;
  return text.padStart(characters, '0');
}

function checksum(text: string): string {
  return toBase62(BigInt(crc32(text)), checksumCharacters);
}

/** A new key: 256 random bits. This is the only time that its text exists with us. */
export function newApiKey(environment: Environment): string {
  return apiKeyOf(environment, toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), secretCharacters));
}

export function apiKeyOf(environment: Environment, secret: string): string {
  const body = keyPrefixes[environment] + secret;
  return body + checksum(body);
}

/** The environment that a key is for, or undefined when it is no key: told without the database. */
export function environmentOfKey(text: string): Environment | undefined {
  const parts = shape.exec(text);
  if (parts === null) return undefined;
  const body = text.slice(0, -checksumCharacters);
  if (checksum(body) !== text.slice(-checksumCharacters)) return undefined;
  return parts[1] === 'live' ? 'production' : 'sandbox';
}

/** What is stored of a key. */
export function digestOfKey(key: string): Uint8Array {
  return createHash('sha256').update(key).digest();
}
