import { promisify } from 'node:util';
import type { Route } from '../http/handle.ts';
import { headerValues } from '../http/request.ts';

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
    br: async () => compressed(await content()),
    gzip: async () => gzipped(await content()),
    identity: content,
  });
}

/** A body that is stored as Brotli: browsers take that over TLS and on this machine, and gzip elsewhere. */
export function bodyOfBrotli(stored: () => Promise<Buffer>): Body {
  const content = async () => {
    const { brotliDecompress } = await import('node:zlib');
    return promisify(brotliDecompress)(await stored());
  };
  return keep({ br: stored, gzip: async () => gzipped(await content()), identity: content });
}

// zlib is loaded when it is first used: a start does not wait for it.

async function compressed(content: Buffer): Promise<Buffer> {
  const { brotliCompress, constants } = await import('node:zlib');
  // The best quality takes 40 times as long for a seventh less, and somebody waits for it.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  return promisify(brotliCompress)(content, { params });
}

async function gzipped(content: Buffer): Promise<Buffer> {
  const { gzip } = await import('node:zlib');
  return promisify(gzip)(content);
}

/** Answers with a body in the form that suits the caller, under these headers. */
export function bodyRoute(body: Body, ofBody: readonly string[]): Route {
  return async ({ rawHeaders, headers }) => {
    const encoding = encodingFor(rawHeaders);
    const content = await body(encoding);
    headers.push(...ofBody, 'Vary', 'Accept-Encoding');
    if (encoding !== 'identity') headers.push('Content-Encoding', encoding);
    return content;
  };
}

/** The smallest form that a caller takes. One who says nothing takes only the body as it is. */
function encodingFor(rawHeaders: readonly string[]): Encoding {
  const offers = headerValues(rawHeaders, 'accept-encoding').join(',').toLowerCase().split(',');
  const taken = new Set(offers.filter((offer) => !/;\s*q=0(\.0*)?\s*$/.test(offer)).map(nameOf));
  return encodings.find((encoding) => taken.has(encoding)) ?? 'identity';
}

function nameOf(offer: string): string {
  return offer.split(';', 1)[0]!.trim();
}
