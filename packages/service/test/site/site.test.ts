/** The pages for partners: links, Markdown, search, headers, encodings and sizes. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Environment } from '@partner-network/contract/environments';
import { errorCatalogue } from '@partner-network/contract/errors';
import { sandboxOrigin } from '@partner-network/contract/operations';
import { demoKeys } from '../../../operator/src/demo/data.ts';
import { exchangeOf } from '../../../testkit/fixtures/http.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { publicUrl, startTestService } from '../../../testkit/service/service.ts';
import { forPartners, guideList } from '../../src/site/guides.ts';
import { createPartnersSite } from '../../src/site/routes.ts';

const root = new URL('../../../../', import.meta.url);
const demoKey = 'pn_test_demo';

function routesOf(environment: Environment) {
  const place = { environment, publicUrl: () => publicUrl, demoKey };
  return new Map(createPartnersSite(place, { brands: 50 }).routes);
}

type Routes = ReturnType<typeof routesOf>;

/** The response of a path to a client that accepts these encodings. */
async function answerOf(routes: Routes, path: string, accepted?: string) {
  const exchange = exchangeOf(accepted === undefined ? [] : ['Accept-Encoding', accepted]);
  const body = Buffer.from(await routes.get(path)!.answer(exchange));
  const { headers, status } = exchange;
  return { body, status, header: (name: string) => headers[headers.indexOf(name) + 1] };
}

const production = routesOf('production');
const sandbox = routesOf('sandbox');

/** The paths of the pages. Each is also there as Markdown. */
const pages = [...production.keys()].filter(
  (path) => production.has(`${path}.md`) && !path.startsWith('/docs/errors/'),
);

const markdownOf = async (routes: Routes, path: string) =>
  (await answerOf(routes, `${path}.md`)).body.toString();

test('the pages are a start, each guide, each operation, the errors and the changes', () => {
  const others = ['/docs', '/docs/operations/listBrands', '/docs/operations/listBalances', '/docs/clients'];
  assert.deepEqual(new Set(pages), new Set([...pluck(guideList, 'path'), ...others]));
  const files = globSync(['docs/*/partners/*.md', '{packages/client,clients/*}/README.md'], { cwd: root });
  assert.deepEqual(pluck(guideList, 'file').sort(), [...files, 'CHANGELOG.md'].sort());
});

test('every link of every page, and of its Markdown, leads to a page and its section', async (t) => {
  const { call } = await startTestService(t);
  const texts = new Map<string, string>();
  const read = async (path: string) => {
    if (!texts.has(path)) {
      const { status, text } = await call(path);
      assert.equal(status, 200, path);
      texts.set(path, text);
    }
    return texts.get(path)!;
  };
  let links = 0;
  for (const path of [...pages, ...pages.map((page) => `${page}.md`), '/llms.txt', '/docs/search?q=retry']) {
    const isHtml = !/\.(md|txt)$/.test(path);
    const text = await read(path);
    const form = isHtml ? /(?:href|src|data-library|data-sections)="([^"]+)"/g : /\]\((?!https?:)([^)]+)\)/g;
    for (const [, link = ''] of text.matchAll(form)) {
      const { origin, pathname, hash } = new URL(link, `${publicUrl}${path}`);
      assert.equal(origin, publicUrl, link);
      if (pathname === '/docs/search') continue;
      const target = await read(pathname);
      if (isHtml && hash !== '') assert.ok(target.includes(` id="${hash.slice(1)}"`), `${path}: ${link}`);
      if (!isHtml && !hash) assert.match(pathname, /\.(md|json|txt|tgz|whl)$/, `${path}: ${link}`);
      links += 1;
    }
  }
  assert.ok(links > 1_000, `${links} links`);
});

test('old addresses, the codes of errors and the address of a sandbox lead to their pages', async () => {
  const codes = Object.keys(errorCatalogue).flatMap((code) =>
    [code, code.toLowerCase()].map((name) => [`/docs/errors/${name}`, `/docs/errors#${code.toLowerCase()}`]),
  );
  const others = [
    ['/docs/', '/docs'],
    ['/docs/guides', '/docs'],
    ['/docs/operations', '/docs#operations'],
    ['/docs/guides/error-catalogue', '/docs/errors'],
    ['/', '/docs'],
  ];
  for (const [from = '', to = ''] of [...codes, ...others]) {
    const { status, header } = await answerOf(sandbox, from);
    const { pathname, hash } = new URL(header('Location')!, `${publicUrl}${from}`);
    assert.deepEqual([status, pathname + hash], [303, to]);
    const page = (await answerOf(sandbox, pathname)).body;
    if (hash !== '') assert.ok(page.includes(`id="${hash.slice(1)}"`), hash);
  }
  assert.equal(production.get('/'), undefined);
});

test('a 404 and a 405 are pages for a browser, and JSON for a program', async (t) => {
  const { call } = await startTestService(t);
  const browser = { headers: { accept: 'text/html,*/*;q=0.8' } };
  for (const [path, method, status] of [
    ['/docs/nowhere/at/all', 'GET', 404],
    ['/docs/errors', 'POST', 405],
  ] as const) {
    const page = await call(path, { ...browser, method });
    assert.equal(page.status, status);
    assert.match(String(page.headers['content-type']), /^text\/html/);
    assert.equal(page.headers['content-length'], String(Buffer.byteLength(page.text)));
    assert.match(page.text, /<title>This page /);
    assert.deepEqual([page.headers.vary, page.headers['cache-control']], ['Accept', 'no-store']);
    const [, style = ''] = /rel="stylesheet" href="([^"]+)"/.exec(page.text)!;
    assert.equal((await call(new URL(style, publicUrl + path).pathname)).status, 200);
    const json = await call(path, { method });
    assert.equal(json.status, status);
    assert.match(json.text, /^\{"errors":/);
    assert.equal(json.headers.allow, page.headers.allow);
    assert.equal(json.headers.vary, 'Accept');
    const refusing = await call(path, { method, headers: { accept: 'text/html;q=0, */*' } });
    assert.match(refusing.text, /^\{"errors":/);
  }
});

test('a Markdown page that does not exist names the list of all pages', async (t) => {
  const { call } = await startTestService(t);
  const { status, text, headers } = await call('/docs/guides/nothing.md');
  assert.equal(status, 404);
  assert.match(String(headers['content-type']), /^text\/markdown/);
  assert.match(text, /\]\(\.\.\/\.\.\/llms\.txt\)/);
  const list = (await call('/llms.txt')).text;
  for (const line of list.split('\n')) assert.match(line, /^(#.*|- \[.+\]\(.+\): .+|)$/);
});

test('an API and a path of many slashes answer with JSON, also to a program that accepts HTML', async (t) => {
  const { call } = await startTestService(t);
  // What Java's HttpURLConnection sends.
  const accept = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2';
  for (const [path, method] of [
    ['/network/v1/brand', 'GET'],
    ['/network/v1/brands', 'POST'],
    ['/'.repeat(5_000), 'GET'],
  ] as const) {
    assert.match((await call(path, { method, headers: { accept } })).text, /^\{"errors":/, path.slice(0, 20));
  }
});

test('a page has only our own scripts and styles, and none of them inline', async () => {
  for (const path of pages) {
    const { body, header } = await answerOf(sandbox, path);
    assert.match(
      String(header('Content-Security-Policy')),
      /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; .*ancestors 'none'$/,
    );
    assert.doesNotMatch(String(header('Content-Security-Policy')), /unsafe|nonce|https?:|\*/);
    assert.doesNotMatch(body.toString(), /<script(?! type="module" src="[^:"]+">)|<style| style=| on\w+=/);
  }
});

test('a page and its styles have at most 40 KB, and all scripts at most 60 KB, compressed', async () => {
  const sizeOf = async (path: string) => (await answerOf(sandbox, path, 'gzip')).body.length;
  const named = (pattern: RegExp) => [...sandbox.keys()].filter((path) => pattern.test(path));
  const sum = async (paths: string[]) => (await Promise.all(paths.map(sizeOf))).reduce((a, b) => a + b, 0);
  const styles = await sum(named(/\.css$/));
  for (const path of pages) assert.ok((await sizeOf(path)) + styles < 40_000, path);
  assert.ok((await sum(named(/\.js$/))) < 60_000);
});

test('every file comes in the smallest encoding that the client accepts, with the same content', async () => {
  for (const [path] of production) {
    const plain = await answerOf(production, path);
    // Each answer of the search is another one, and is not compressed.
    if (plain.status === 303 || path === '/docs/search') continue;
    for (const refused of ['', 'deflate', 'br;q=0, gzip;q=0.0', 'brotli']) {
      assert.ok((await answerOf(production, path, refused)).body.equals(plain.body), refused);
    }
    const br = await answerOf(production, path, 'gzip, deflate, BR;q=0.5');
    const gzip = await answerOf(production, path, 'gzip, br;q=0');
    const encodings = [br, gzip].map(({ header }) => header('Content-Encoding'));
    assert.deepEqual(encodings, ['br', 'gzip']);
    assert.ok(brotliDecompressSync(br.body).equals(plain.body), path);
    assert.ok(gunzipSync(gzip.body).equals(plain.body), path);
    for (const { header } of [br, gzip, plain]) assert.equal(header('Vary'), 'Accept-Encoding');
    const isKept = /-[0-9a-f]{8}\.(js|css|svg)$/.test(path);
    const seconds = isKept ? '31536000, immutable' : '300';
    assert.equal(plain.header('Cache-Control'), `public, max-age=${seconds}`, path);
  }
});

test('a page is made and compressed once', async () => {
  const routes = routesOf('production');
  const exchange = () => exchangeOf(['Accept-Encoding', 'br']);
  const [one, two] = [
    await routes.get('/docs')!.answer(exchange()),
    await routes.get('/docs')!.answer(exchange()),
  ];
  assert.equal(one, two);
});

test('the guides name the address of this service, and a demo key in the sandbox only', async () => {
  const address = 'BASE_URL=https://network.example/network/v1';
  for (const path of ['/docs', '/docs/guides/quick-start']) {
    assert.match(await markdownOf(production, path), new RegExp(`${address}\\n.*API_KEY=pn_live_…\\n`));
    assert.match(await markdownOf(sandbox, path), new RegExp(`${address}\\n.*API_KEY=pn_test_demo`));
  }
  for (const client of ['javascript', 'python']) {
    const text = await markdownOf(production, `/docs/guides/${client}`);
    assert.match(text, /install https:\/\/network\.example\/docs\/clients\/partner/);
  }
  const collection = (routes: Routes) => answerOf(routes, '/docs/partner-network.postman_collection.json');
  assert.ok((await collection(sandbox)).body.includes(demoKey));
  assert.ok(!(await collection(production)).body.includes('pn_test'));
  const form = (routes: Routes) => answerOf(routes, '/docs/operations/listBrands');
  assert.ok((await form(sandbox)).body.includes(`value="${demoKey}"`));
  assert.ok(!(await form(production)).body.includes(demoKey));
});

test('the page of clients has the digest of each file that it offers', async () => {
  const text = await markdownOf(production, '/docs/clients');
  const files = [...production.keys()].filter((path) => path.startsWith('/docs/clients/'));
  assert.equal(files.length, 3);
  // All pages wait for what the search knows. Packing takes 100 ms in a package, and 600 ms in a checkout.
  const searched = (await answerOf(production, '/docs/sections.json')).body.toString();
  assert.ok(searched.includes('/docs/clients#sha-256'));
  assert.doesNotMatch(searched, /[0-9a-f]{64}/);
  for (const path of files) {
    const { body } = await answerOf(production, path);
    const digest = createHash('sha256').update(body).digest('hex');
    assert.ok(text.includes(`${digest}  ${path.split('/').at(-1)}\n`), path);
  }
});

test('a demo key that is the subject of a guide is not replaced', async () => {
  const juniper = demoKeys.find(({ text }) => text.includes('Juniper'))!.text;
  for (const routes of [production, sandbox]) {
    const text = await markdownOf(routes, '/docs/guides/sandbox');
    assert.ok(text.includes(`old=${juniper}`));
  }
});

test('the guides of a sandbox have its address, others the default address of a sandbox', async () => {
  const textOf = async (routes: Routes) =>
    (await Promise.all(pages.map((path) => markdownOf(routes, path)))).join('\n');
  assert.ok(!(await textOf(sandbox)).includes(sandboxOrigin));
  assert.ok((await textOf(production)).includes(sandboxOrigin));
});

test('what changed for partners is in the changelog under their name, and nothing else is', () => {
  const changelog = `# Changelog

## [2.0.0] - 2026-01-02

### Added

- **Operators:** a flag.
- **Partners and operators:** a [page](docs/page.md)
  of errors.

### Fixed

- **Operators:** a fault.

## [1.0.0] - 2026-01-01

### Added

- **Operators:** all.
`;
  const kept = '## 2.0.0 - 2026-01-02\n\n**Added**\n\n- A [page](docs/page.md)\n  of errors.\n';
  assert.equal(forPartners(changelog).split('\n\n').slice(2).join('\n\n'), kept);
});
