/** The reference at /docs: a library shows the OpenAPI document and the guides for partners, offline. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Environment, keyPrefixes } from '@partner-network/contract/environments';
import type { Exchange, Route } from '../http/handle.ts';
import { type Body, bodyOf, bodyOfBrotli, bodyRoute } from './body.ts';
import { pageOf, policyOf } from './page.ts';

interface Surroundings {
  readonly environment: Environment;
  readonly publicUrl: () => string;
  /** A public key of demo data, for whoever has none yet. */
  readonly demoKey?: string | undefined;
}

const folder = new URL('../../assets/reference/', import.meta.url);
const library: { version: string; sha256: string } = JSON.parse(
  readFileSync(new URL('library.json', folder), 'utf8'),
);

const forAYear = 'public, max-age=31536000, immutable';
const askEachTime = 'no-cache';
/** What is not for another site's pages, and tells other sites nothing. */
const apart = ['Cross-Origin-Resource-Policy', 'same-origin', 'Referrer-Policy', 'no-referrer'];

/** A file of ours, at a path that changes with it, so that a browser may keep it. */
function ownFile(name: string, type: string) {
  const content = readFileSync(new URL(name, folder));
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 8);
  const [stem, ending] = name.split('.');
  return {
    path: `/docs/${stem}-${digest}.${ending}`,
    route: fileRoute(
      bodyOf(async () => content),
      type,
      forAYear,
    ),
  };
}

function fileRoute(body: Body, type: string, cacheControl: string): Route {
  return bodyRoute(body, ['Content-Type', type, 'Cache-Control', cacheControl, ...apart]);
}

const javascript = 'text/javascript; charset=utf-8';
const start = ownFile('start.js', javascript);
const style = ownFile('style.css', 'text/css; charset=utf-8');
const icon = ownFile('icon.svg', 'image/svg+xml');
const files = {
  library: `/docs/library-${library.version}-${library.sha256.slice(0, 8)}.js`,
  start: start.path,
  style: style.path,
  icon: icon.path,
  guides: '/docs/guides.json',
};

/** The paths of the reference, by which nothing is read before it is asked for. */
export function referenceRoutes({ environment, publicUrl, demoKey }: Surroundings): [string, Route][] {
  const stored = bodyOfBrotli(() => readFile(new URL('library.js.br', folder)));
  // A demo key is of a sandbox's demo data, and of use nowhere else.
  const offered = environment === 'sandbox' ? demoKey : undefined;
  const guides = bodyOf(async () => {
    const { readGuides } = await import('./guides.ts');
    const key = offered ?? `${keyPrefixes[environment]}…`;
    const read = await readGuides({ publicUrl: publicUrl(), key, isOwnSandbox: offered !== undefined });
    return Buffer.from(JSON.stringify({ demoKey: offered, guides: read }));
  });
  return [
    ['/docs', page],
    [files.library, fileRoute(stored, javascript, forAYear)],
    [files.guides, fileRoute(guides, 'application/json; charset=utf-8', askEachTime)],
    ...[start, style, icon].map(({ path, route }): [string, Route] => [path, route]),
  ];
}

async function page({ headers }: Exchange): Promise<string> {
  const nonce = randomBytes(16).toString('base64');
  headers.push('Content-Type', 'text/html; charset=utf-8', 'Cache-Control', 'no-store', ...apart);
  headers.push('Content-Security-Policy', policyOf(nonce), 'Cross-Origin-Opener-Policy', 'same-origin');
  return pageOf(files, nonce);
}
