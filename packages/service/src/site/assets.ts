/** Files that pages use. Their paths change with their content, so that browsers may cache them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { bodyOf, bodyRoute } from '@partner-network/http/content';
import type { Route } from '@partner-network/http/handle';

const oneYear = 'public, max-age=31536000, immutable';
/** Keeps the files out of other sites' pages, and the address of the page out of requests to other sites. */
export const isolation = ['Cross-Origin-Resource-Policy', 'same-origin', 'Referrer-Policy', 'no-referrer'];

type Asset = readonly [path: string, Route];

function assetOf(name: string, type: string, content: string | Buffer): Asset {
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 8);
  const body = bodyOf(async () => Buffer.from(content));
  const headers = ['Content-Type', type, 'Cache-Control', oneYear, ...isolation];
  return [`/docs/${name.replace('.', `-${digest}.`)}`, bodyRoute(body, headers)];
}

const read = (name: string) => readFileSync(new URL(`../../assets/site/${name}`, import.meta.url));
const javascript = 'text/javascript; charset=utf-8';

export const icon = assetOf('icon.svg', 'image/svg+xml', read('icon.svg'));
export const style = assetOf('site.css', 'text/css; charset=utf-8', read('site.css'));
export const script = assetOf('site.js', javascript, read('site.js'));
export const searchLibrary = assetOf(
  'minisearch.js',
  javascript,
  readFileSync(new URL(import.meta.resolve('minisearch'))),
);
