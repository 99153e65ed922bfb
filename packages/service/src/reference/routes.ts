/** The reference at /docs: a bundled library shows the OpenAPI document and the guides for partners. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Environment, keyPrefixes } from '@partner-network/contract/environments';
import type { Rates } from '@partner-network/contract/openapi/partners';
import { listings, openApiPath, sandboxOrigin } from '@partner-network/contract/operations';
import { fillIn } from '@partner-network/contract/sentence';
import {
  type Body,
  bodyOf,
  bodyOfBrotli,
  bodyRoute,
  freshBody,
  redirect,
} from '@partner-network/http/content';
import type { Route } from '@partner-network/http/handle';
import { clientFiles } from '../site/clients.ts';
import { guideList } from './guide-list.ts';

export interface Surroundings {
  readonly environment: Environment;
  readonly publicUrl: () => string;
  /** A public key of the demo data, offered to readers of the reference who have no key. */
  readonly demoKey?: string | undefined;
}

const assets = new URL('../../assets/', import.meta.url);
const folder = new URL('reference/', assets);
const library: { version: string; sha256: string } = JSON.parse(
  readFileSync(new URL('library.json', folder), 'utf8'),
);

const oneYear = 'public, max-age=31536000, immutable';
/** Keeps the files out of other sites' pages, and the address of the page out of requests to other sites. */
const isolation = ['Cross-Origin-Resource-Policy', 'same-origin', 'Referrer-Policy', 'no-referrer'];
export const javascript = 'text/javascript; charset=utf-8';
export const css = 'text/css; charset=utf-8';
const json = 'application/json; charset=utf-8';

function fileRoute(body: Body, type: string, cacheControl: string): Route {
  return bodyRoute(body, ['Content-Type', type, 'Cache-Control', cacheControl, ...isolation]);
}

/** The path and route of an own file. The path changes with the content, so that browsers may cache it. */
export function ownFile(name: string, type: string, at = '/docs', from = folder): [path: string, Route] {
  const content = readFileSync(new URL(name, from));
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 8);
  const body = bodyOf(async () => content);
  return [`${at}/${name.replace('.', `-${digest}.`)}`, fileRoute(body, type, oneYear)];
}

const start = ownFile('start.js', javascript);
export const style = ownFile('style.css', css);
export const icon = ownFile('icon.svg', 'image/svg+xml');
const libraryPath = `/docs/library-${library.version}-${library.sha256.slice(0, 8)}.js`;
const guidesPath = '/docs/guides.json';
const guideIndexPath = '/docs/guides';

const collectionFile = 'docs/reference/partners/partner-network.postman_collection.json';
const collectionPath = '/docs/partner-network.postman_collection.json';

const template = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const pageTemplate = template('page.html');
const guideTemplate = template('guide.html');
/** Addresses on the page are relative, so that it works under a path prefix of a proxy. */
const relativeFiles = {
  library: libraryPath.slice(1),
  start: start[0].slice(1),
  style: style[0].slice(1),
  icon: icon[0].slice(1),
  guides: guidesPath.slice(1),
  document: openApiPath.slice(1),
};

/** The paths of the clients' packages. */
const clientPackages = clientFiles().map(({ name, content }): [string, Route] => {
  return [`/docs/clients/${name}`, fileRoute(bodyOf(content), 'application/octet-stream', 'no-cache')];
});

/** The paths of the reference. The library, the guides and the OpenAPI document are loaded on first use. */
export function referenceRoutes(surroundings: Surroundings, rates: Rates): [string, Route][] {
  const { environment, publicUrl, demoKey } = surroundings;
  const stored = bodyOfBrotli(() => readFile(new URL('library.js.br', folder)));
  // A demo key works only in a sandbox with the demo data.
  const offered = environment === 'sandbox' ? demoKey : undefined;
  const api = async () => {
    const { partnersApi } = await import('@partner-network/contract/openapi/partners');
    return partnersApi({ environment, publicUrl: publicUrl() }, rates);
  };
  const read = async (guidesAt: string) => {
    const { readGuides } = await import('./guides.ts');
    return readGuides({
      publicUrl: publicUrl(),
      key: offered ?? `${keyPrefixes[environment]}…`,
      isOwnSandbox: offered !== undefined,
      files: { [collectionFile]: collectionPath },
      guidesAt,
    });
  };
  const collection = bodyOf(async () => {
    const text = await readFile(new URL(`../../../../${collectionFile}`, import.meta.url), 'utf8');
    return Buffer.from(text.replaceAll(sandboxOrigin, publicUrl));
  });
  const guides = bodyOf(async () => {
    const shown = (await read('docs/guides/')).map(({ name, group, title, text, summary }) => {
      const isOfListing = listings.some((operation) => operation.name === name);
      return { name, group, title, text: isOfListing ? text : summary };
    });
    return Buffer.from(JSON.stringify({ demoKey: offered, guides: shown }));
  });
  const guidePages = guideList.map(({ name }): [string, Route] => {
    const content = async () => {
      const { rendered } = await import('./markdown.ts');
      const guide = (await read('')).find((other) => other.name === name)!;
      return { title: guide.title, text: rendered(guide.text) };
    };
    return [`${guideIndexPath}/${name}`, guidePage('../../', content)];
  });
  const index = guidePage('../', async () => {
    const { guideIndex } = await import('./plain.ts');
    return { title: 'Guides', text: guideIndex(await read('guides/')) };
  });
  const page = bodyOf(async () => {
    const { plainReference } = await import('./plain.ts');
    const plain = plainReference(await api(), await read('docs/guides/'));
    return Buffer.from(fillIn(pageTemplate, { ...relativeFiles, ...plain, nonce: '{nonce}' }));
  });
  const document = bodyOf(async () => {
    const { openApi } = await import('@partner-network/contract/openapi/document');
    return Buffer.from(JSON.stringify(openApi(await api())));
  });
  return [
    [openApiPath, bodyRoute(document, ['Content-Type', json, 'Cache-Control', 'public, max-age=300'])],
    ['/docs', pageRoute(page)],
    [libraryPath, fileRoute(stored, javascript, oneYear)],
    [guidesPath, fileRoute(guides, json, 'no-cache')],
    [collectionPath, fileRoute(collection, json, 'no-cache')],
    [guideIndexPath, index],
    ...guidePages,
    ...clientPackages,
    start,
    style,
    icon,
    ...(environment === 'sandbox' ? [home] : []),
  ];
}

/** A page without scripts. `up` leads from it to the root of the service. */
function guidePage(up: string, content: () => Promise<{ title: string; text: string }>): Route {
  const page = async () => fillIn(guideTemplate, { ...relativeFiles, up, ...(await content()) });
  return bodyRoute(
    bodyOf(async () => Buffer.from(await page())),
    plainHeaders,
  );
}

/** Leads from the address of a sandbox to its reference. Relative, so that it works under a path prefix. */
const home: [path: string, Route] = ['/', { answer: async (exchange) => redirect(exchange, 'docs') }];

const htmlHeaders = ['Content-Type', 'text/html; charset=utf-8', ...isolation];

/** The headers of a page without scripts. */
export const plainHeaders = [...htmlHeaders, ...policy(`'self'`), 'Cache-Control', 'no-cache'];

/** The page at /docs. The nonce allows the style elements that the library makes. */
function pageRoute(page: Body): Route {
  return {
    async answer(exchange) {
      const text = (await page('identity')).toString();
      const nonce = randomBytes(16).toString('base64');
      const body = freshBody(Buffer.from(text.replace('{nonce}', nonce)));
      const headers = ['Cache-Control', 'no-store', 'Cross-Origin-Opener-Policy', 'same-origin'];
      const rules = policy(`'self' 'nonce-${nonce}'`);
      return bodyRoute(body, [...htmlHeaders, ...headers, ...rules]).answer(exchange);
    },
  };
}

/**
 * The Content-Security-Policy: only our own scripts, styles and images. Style attributes are allowed, because
 * the library writes some and they cannot carry a nonce. They can neither select nor load anything.
 */
function policy(styles: string): string[] {
  const rules = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "style-src-attr 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return ['Content-Security-Policy', rules.join('; ')];
}
