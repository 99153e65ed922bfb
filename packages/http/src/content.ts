/** Content that is sent in the best encoding that the client accepts, and redirects. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { httpBounds } from '@partner-network/common/bounds/http';
import type { Exchange, Route } from './handle.ts';
import { headerValues } from './request.ts';

const encodings = ['br', 'gzip', 'identity'] as const;

type Encoding = (typeof encodings)[number];

/** The body of a path in each encoding. Each is made on first use and cached. */
export type Body = (encoding: Encoding) => Promise<Buffer>;

// Brotli's quality 11 takes 40 times as long and saves a seventh; a reader waits for it.
const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
const compress = {
  br: (content: Buffer) => promisify(brotliCompress)(content, { params }),
  gzip: promisify<Buffer, Buffer>(gzip),
};

export function bodyOf(content: () => Promise<Buffer>): Body {
  const cache: Partial<Record<Encoding, Promise<Buffer>>> = {};
  const made: Body = (encoding) =>
    (cache[encoding] ??= (
      encoding === 'identity' ? content() : made('identity').then(compress[encoding])
    ).catch((fault) => {
      // A failure is not cached: the next request tries again.
      delete cache[encoding];
      throw fault;
    }));
  return made;
}

/** Answers with a body in the best encoding that the client accepts. */
export function bodyRoute(body: Body, bodyHeaders: readonly string[]): Route {
  return {
    answerMs: () => httpBounds.contentMs,
    async answer({ rawHeaders, headers }) {
      const encoding = encodingFor(rawHeaders);
      const content = await body(encoding);
      headers.push(...bodyHeaders, 'Vary', 'Accept-Encoding');
      if (encoding !== 'identity') headers.push('Content-Encoding', encoding);
      return content;
    },
  };
}

/** The smallest encoding that the client accepts. Without Accept-Encoding the body is not compressed. */
function encodingFor(rawHeaders: readonly string[]): Encoding {
  const offers = headerValues(rawHeaders, 'accept-encoding').join(',').toLowerCase().split(',');
  const accepted = offers.filter((offer) => !/;\s*q=0(\.0*)?\s*$/.test(offer));
  const names = accepted.map((offer) => offer.split(';', 1)[0]!.trim());
  return encodings.find((encoding) => names.includes(encoding)) ?? 'identity';
}

/** Sends a browser to another address. */
export function redirect(exchange: Exchange, location: string): string {
  exchange.status = 303;
  exchange.headers.push('Location', location, 'Cache-Control', 'no-store');
  return '';
}
