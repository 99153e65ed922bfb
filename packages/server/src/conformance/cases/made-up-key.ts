import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { keyPrefixes } from '@partner-network/contract/environments';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A random key that was never issued, for the environment of the real key or the other one. */
export function madeUpKey(real: string, isOwn: boolean, hasChecksum: boolean): string {
  const isLive = real.startsWith(keyPrefixes.production) === isOwn;
  const secret = Array.from({ length: 43 }, () => alphabet[randomInt(62)]).join('');
  const body = (isLive ? keyPrefixes.production : keyPrefixes.sandbox) + secret;
  const sum = (crc32(body) ^ (hasChecksum ? 0 : 1)) >>> 0;
  return body + [5, 4, 3, 2, 1, 0].map((place) => alphabet[Math.floor(sum / 62 ** place) % 62]).join('');
}
