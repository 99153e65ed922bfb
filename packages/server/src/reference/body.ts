import { promisify } from 'node:util';
import { headerValues } from '../http/headers.ts';

const encodings = ['br', 'gzip', 'identity'] as const;

type Encoding = (typeof encodings)[number];

/** What a path answers, in the forms that callers take. Each is made when it is first asked for, and kept. */
export type Body = (encoding: Encoding) => Promise<Buffer>;

function keep(forms: Readonly<Record<Encoding, () => Promise<Buffer>>>): Body {
  const kept: Partial<Record<Encoding, Promise<Buffer>>> = {};
  return (encoding) =>
    (kept[encoding] ??= forms[encoding]().catch((fault) => {
      // What failed once is tried again by the next who asks.
      delete kept[encoding];
      throw fault;
    }));
}

/** A body that is at hand as it is. */
export function bodyOf(content: () => Promise<Buffer>): Body {
  return keep({
    br: async () => squeeze('brotliCompress', await content()),
    gzip: async () => squeeze('gzip', await content()),
    identity: content,
  });
}

/** A body that is stored as Brotli: browsers take that over TLS and on this machine, and gzip elsewhere. */
export function bodyOfBrotli(stored: () => Promise<Buffer>): Body {
  const content = async () => squeeze('brotliDecompress', await stored());
  return keep({ br: stored, gzip: async () => squeeze('gzip', await content()), identity: content });
}

/** Loaded when it is first used: a start does not wait for it. */
async function squeeze(
  way: 'brotliCompress' | 'brotliDecompress' | 'gzip',
  content: Buffer,
): Promise<Buffer> {
  const zlib = await import('node:zlib');
  return promisify<Buffer, Buffer>(zlib[way])(content);
}

/** The smallest form that a caller takes. One who says nothing takes only the body as it is. */
export function encodingFor(rawHeaders: readonly string[]): Encoding {
  const offers = headerValues(rawHeaders, 'accept-encoding').join(',').toLowerCase().split(',');
  const taken = new Set(offers.filter((offer) => !/;\s*q=0(\.0*)?\s*$/.test(offer)).map(nameOf));
  return encodings.find((encoding) => taken.has(encoding)) ?? 'identity';
}

function nameOf(offer: string): string {
  return offer.split(';', 1)[0]!.trim();
}
