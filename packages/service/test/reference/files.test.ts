/** The files of the reference: their encodings and headers. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Environment } from '@partner-network/contract/environments';
import { sandboxOrigin } from '@partner-network/contract/operations';
import { demoKeys } from '../../../operator/src/demo/data.ts';
import { exchangeOf } from '../../../testkit/fixtures/http.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { guideList } from '../../src/reference/guide-list.ts';
import type { Guide } from '../../src/reference/guides.ts';
import { referenceRoutes } from '../../src/reference/routes.ts';

const assets = new URL('../../assets/reference/', import.meta.url);
const root = new URL('../../../../', import.meta.url);
const publicUrl = 'https://network.example';
const demoKey = 'pn_test_demo';

/** All routes, except those of the packages with clients, which a checkout may have or not. */
function routesOf(environment: Environment) {
  const routes = referenceRoutes({ environment, publicUrl: () => publicUrl, demoKey }, { brands: 50 });
  return new Map(routes.filter(([path]) => !path.startsWith('/docs/clients/')));
}

/** The response of a path to a client that accepts these encodings. */
async function answerOf(routes: ReturnType<typeof routesOf>, path: string, accepted?: string) {
  const exchange = exchangeOf(accepted === undefined ? [] : ['Accept-Encoding', accepted]);
  const body = Buffer.from(await routes.get(path)!.answer(exchange));
  const { headers } = exchange;
  return { body, header: (name: string) => headers[headers.indexOf(name) + 1] };
}

async function shownGuides(environment: Environment): Promise<{ demoKey?: string; guides: Guide[] }> {
  return JSON.parse((await answerOf(routesOf(environment), '/docs/guides.json')).body.toString());
}

/** The page of each guide, by name. */
async function guidePages(environment: Environment): Promise<Map<string, string>> {
  const routes = routesOf(environment);
  const pages = guideList.map(async ({ name }): Promise<[string, string]> => {
    return [name, (await answerOf(routes, `/docs/guides/${name}`)).body.toString()];
  });
  return new Map(await Promise.all(pages));
}

test('the library has the recorded digest, and its license is included', () => {
  const record = JSON.parse(readFileSync(new URL('library.json', assets), 'utf8'));
  const library = brotliDecompressSync(readFileSync(new URL('library.js.br', assets)));
  assert.equal(createHash('sha256').update(library).digest('hex'), record.sha256);
  assert.ok(library.includes(record.version));
  assert.match(
    readFileSync(new URL('LICENSE-scalar.txt', assets), 'utf8'),
    /^MIT License\n.*other libraries/s,
  );
});

test('the address of a sandbox leads to its reference, and production has no such path', async (t) => {
  const { port } = await startTestService(t);
  const { url, status } = await fetch(`http://127.0.0.1:${port}/`);
  assert.deepEqual([new URL(url).pathname, status], ['/docs', 200]);
  assert.equal(routesOf('production').get('/'), undefined);
});

test('every file comes in the smallest encoding that the client accepts, with the same content', async () => {
  const routes = routesOf('production');
  for (const path of [...routes.keys()].filter((path) => path !== '/docs')) {
    const plain = await answerOf(routes, path);
    assert.ok(plain.body.length > 0);
    for (const refused of ['', 'deflate', 'br;q=0, gzip;q=0.0', 'brotli']) {
      assert.ok((await answerOf(routes, path, refused)).body.equals(plain.body), refused);
    }
    const br = await answerOf(routes, path, 'gzip, deflate, BR;q=0.5');
    const gzip = await answerOf(routes, path, 'gzip, br;q=0');
    assert.deepEqual(
      [br, gzip].map(({ header }) => header('Content-Encoding')),
      ['br', 'gzip'],
    );
    assert.ok(brotliDecompressSync(br.body).equals(plain.body), path);
    assert.ok(gunzipSync(gzip.body).equals(plain.body), path);
    assert.deepEqual(
      [br, gzip, plain].map(({ header }) => header('Vary')),
      Array(3).fill('Accept-Encoding'),
    );
  }
});

test('files with a digest in their name are cached for a year, the others are revalidated', async () => {
  const routes = routesOf('production');
  const page = (await answerOf(routes, '/docs')).body.toString();
  const named = Array.from(page.matchAll(/(?:href|src)="(docs\/[^"#]+)/g), ([, path]) => `/${path}`);
  // Only guides link to these.
  const others = ['/docs/partner-network.postman_collection.json', '/docs/guides'];
  const paths = routes.keys().filter((path) => path.startsWith('/docs'));
  assert.deepEqual(new Set(['/docs', ...others, ...named]), new Set(paths));
  for (const path of [...others, ...named]) {
    const isKept = /-[0-9a-f]{8}\.(js|css|svg)$/.test(path);
    const expected = isKept ? 'public, max-age=31536000, immutable' : 'no-cache';
    assert.equal((await answerOf(routes, path)).header('Cache-Control'), expected);
  }
  assert.equal((await answerOf(routes, '/docs')).header('Cache-Control'), 'no-store');
});

test('the page runs only our own scripts, and styles need a nonce that is never reused', async () => {
  const routes = routesOf('production');
  const nonces = new Set<string>();
  for (const _ of [1, 2]) {
    const { body, header } = await answerOf(routes, '/docs');
    const policy = String(header('Content-Security-Policy'));
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[^']+'; /);
    assert.match(policy, /connect-src 'self'; .*frame-ancestors 'none'$/);
    assert.doesNotMatch(policy, /unsafe-eval|https?:|\*/);
    assert.doesNotMatch(body.toString(), /<script(?! defer src="docs\/)|<style| style=| on\w+=/);
    nonces.add(/nonce-([^']+)/.exec(policy)![1]!);
  }
  assert.equal(nonces.size, 2);
});

test('the guides are all pages for partners and the READMEs of both clients, by group', async () => {
  const files = globSync(['docs/*/partners/*.md', '{packages/client,clients/*}/README.md'], { cwd: root });
  assert.deepEqual(pluck(guideList, 'file').sort(), files.sort());
  const names = pluck(guideList, 'name');
  assert.equal(new Set(names).size, names.length, 'the address of a guide has only its name');
  const { guides } = await shownGuides('production');
  assert.deepEqual(pluck(guides, 'name'), names);
  assert.equal(guides[0]?.title, 'Quick start');
  const groups = ['Start', 'Clients', 'How-to guides', 'Reference'];
  assert.deepEqual([...new Set(pluck(guides, 'group'))], groups);
});

test('the reference has the text of the guides about listings, and a summary of the others', async () => {
  const { guides } = await shownGuides('production');
  const textOf = (wanted: string) => guides.find(({ name }) => name === wanted)!.text;
  for (const name of ['brands', 'balances']) assert.ok(textOf(name).includes('## <a id='), name);
  const summary = textOf('pagination');
  assert.match(summary, /^Read all pages of a query\. /);
  const rules = '[Rules](docs/guides/pagination#pagination-rules) · ';
  assert.ok(summary.includes(`\n\n[Read this guide](docs/guides/pagination): ${rules}`), summary);
});

test('the guides name the address of this service, and a demo key in the sandbox only', async () => {
  const [production, sandbox] = [await guidePages('production'), await guidePages('sandbox')];
  const quickStart = (pages: typeof production) => pages.get('quick-start')!;
  const address = 'BASE_URL=https://network.example/network/v1';
  assert.match(quickStart(production), new RegExp(`${address}\\n.*API_KEY=pn_live_…\\n`));
  assert.match(quickStart(sandbox), new RegExp(`${address}\\n.*API_KEY=pn_test_demo`));
  for (const client of ['javascript', 'python']) {
    assert.match(production.get(client)!, /install https:\/\/network\.example\/docs\/clients\/partner/);
  }
  const offered = [await shownGuides('production'), await shownGuides('sandbox')];
  assert.deepEqual(
    offered.map((shown) => shown.demoKey),
    [undefined, demoKey],
  );
});

test('a demo key that is the subject of a guide is not replaced', async () => {
  const juniper = demoKeys.find(({ text }) => text.includes('Juniper'))!.text;
  for (const environment of ['production', 'sandbox'] as const) {
    const about = [...(await guidePages(environment))].filter(([, text]) => text.includes('KEY_JUNIPER'));
    assert.deepEqual(
      about.map(([name]) => name),
      ['sandbox'],
      'what is done in a sandbox only is in its own guide',
    );
    assert.ok(about[0]![1].includes(`old=${juniper}`), environment);
  }
});

test('the guides of a sandbox have its address, others the default address of a sandbox', async () => {
  const textOf = async (environment: Environment) => [...(await guidePages(environment)).values()].join('\n');
  assert.ok(!(await textOf('sandbox')).includes(sandboxOrigin));
  assert.ok((await textOf('production')).includes(sandboxOrigin));
});
