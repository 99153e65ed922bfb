/** Files that pages use. Their paths change with their content, so that browsers may cache them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { bodyOf, bodyRoute } from '@partner-network/http/content';
import type { Route } from '@partner-network/http/handle';

const oneYear = 'public, max-age=31536000, immutable';
/** Keeps the files out of other sites' pages, and the address of the page out of requests to other sites. */
export const isolation = ['Cross-Origin-Resource-Policy', 'same-origin', 'Referrer-Policy', 'no-referrer'];

type Asset = [path: string, Route];

export function assetOf(path: string, type: string, ...parts: readonly Buffer[]): Asset {
  const content = Buffer.concat(parts);
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 8);
  const body = bodyOf(async () => content);
  const headers = ['Content-Type', `${type}; charset=utf-8`, 'Cache-Control', oneYear, ...isolation];
  return [path.replace('.', `-${digest}.`), bodyRoute(body, headers)];
}

const read = (name: string) => readFileSync(new URL(`../../assets/site/${name}`, import.meta.url));

/** The styles that these pages share with the console. */
export const base = read('base.css');

export const icon = assetOf('/docs/icon.svg', 'image/svg+xml', read('icon.svg'));
export const style = assetOf('/docs/site.css', 'text/css', base, read('site.css'));
export const script = assetOf('/docs/site.js', 'text/javascript', read('site.js'));
/** The library and what uses it. */
export const searchLibrary = assetOf(
  '/docs/minisearch.js',
  'text/javascript',
  readFileSync(new URL(import.meta.resolve('minisearch'))),
  read('search.js'),
);
