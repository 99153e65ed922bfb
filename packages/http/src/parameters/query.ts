import { isUtf8 } from 'node:buffer';
import { httpBounds } from '@partner-network/common/bounds/http';

/**
 * The parameters of a query string by name, in the order of their first appearance. Values stay encoded.
 * Only the first hundred are read, of up to 8,000: the request is refused anyway, because some of the
 * hundred are unknown or given twice.
 */
export function splitQuery(query: string): Map<string, string[]> {
  const parameters = new Map<string, string[]>();
  for (const [pair] of query.matchAll(/[^&]+/g).take(httpBounds.queryParameters)) {
    const equals = pair.indexOf('=');
    // A name that is not UTF-8 is still shown in the error, with replacement characters.
    const encoded = equals === -1 ? pair : pair.slice(0, equals);
    const name = decode(encoded) ?? bytesOf(encoded).toString();
    const value = equals === -1 ? '' : pair.slice(equals + 1);
    const values = parameters.get(name);
    if (values === undefined) parameters.set(name, [value]);
    else values.push(value);
  }
  return parameters;
}

/** The name of the first parameter with a byte over 0x7F, which must be percent-encoded. */
export function nameOfRawByte(query: string): string | undefined {
  const pair = query.split('&').find((text) => /[\x80-\xff]/.test(text));
  return pair === undefined ? undefined : splitQuery(pair).keys().next().value;
}

const brokenEscape = /%(?![0-9A-Fa-f]{2})/;
const encodedCharacter = /[%+\x80-\xff]/;

/** Decodes percent-encoded UTF-8. Undefined if the encoding is broken. */
export function decode(encoded: string): string | undefined {
  // Most values need no decoding. With it, the parameters of a balance take 7 µs instead of 3.
  if (!encodedCharacter.test(encoded)) return encoded;
  if (brokenEscape.test(encoded)) return undefined;
  const bytes = bytesOf(encoded);
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

const [percent, plus, space] = Buffer.from('%+ ');

/**
 * The bytes of a text without its percent-encoding. A broken escape is left unchanged. A loop, because
 * decodeURIComponent throws, and `replace` takes 0.3 µs for each of up to 5,000 escapes.
 */
function bytesOf(encoded: string): Buffer {
  const bytes = Buffer.from(encoded, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    let byte = bytes[at]!;
    if (byte === plus) byte = space!;
    if (byte === percent) {
      const escaped = (digitAt(bytes, at + 1) << 4) | digitAt(bytes, at + 2);
      if (escaped >= 0) [byte, at] = [escaped, at + 2];
    }
    bytes[length] = byte;
    length += 1;
  }
  return bytes.subarray(0, length);
}

/** The hexadecimal digit at a place, or -1. */
function digitAt(bytes: Buffer, place: number): number {
  const byte = bytes[place] ?? 0;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
