/** The search of the console: what it finds, and where it leads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOfKey } from '../../../service/src/auth.ts';
import { adminKeys } from '../../../testkit/admin/started.ts';
import { byTest, createdAt, keys } from '../../../testkit/fixtures/fixture.ts';
import { importValues } from '../../src/ingest/import.ts';
import { consoleScene, fillUse, pagePaths, request_id, type TestBrowser } from './scene.ts';

/** Where a search leads: an address, or the text of its page. */
async function find(browser: TestBrowser, id: string): Promise<string> {
  const { status, to, text } = await browser.post('/console/search', { id });
  return status === 303 ? to : text;
}

for (const engine of ['sqlite', 'postgres']) {
  test(`all pages open, and one field finds every kind of id (${engine})`, async (t) => {
    const { as, store } = await consoleScene(t, engine);
    await fillUse(store);
    const shop = { id: 'KEY_SHOP', partner_id: 'acme', name: 'My shop', last_four: 'abcd' };
    const own = { ...shop, scopes: ['BRANDS_READ'], created_at: createdAt } as const;
    await store.createKey(own, digestOfKey('shop'), byTest);
    const support = await as('SUPPORT');
    for (const path of pagePaths) assert.equal((await support.get(path)).status, 200, path);
    const hits = {
      acme: '/partners/acme',
      KEY_3: '/keys/KEY_3',
      'g-active': '/customers/alice',
      alice: '/customers/alice',
      'without-balances': '/customers/without-balances',
      b1: '/brands/acme/b1',
      ' z1 ': '/brands/zenith/z1',
      [request_id]: `/requests/${request_id}`,
      [request_id.toUpperCase()]: `/requests/${request_id.toUpperCase()}`,
      '0190aaaa-0000-7000-8000-00000000ffff': '/requests/0190aaaa-0000-7000-8000-00000000ffff',
      [keys.acmeRevoked]: '/keys/KEY_4',
      ZENI: '/partners/zenith',
      [`X-Request-Id: ${request_id}`]: `/requests/${request_id}`,
      'my sh': '/keys/KEY_SHOP',
    };
    for (const [id, path] of Object.entries(hits)) {
      assert.equal(await find(support, id), `/console${path}`);
    }
    const both = await find(support, 'b2');
    assert.match(both, /href="\/console\/brands\/acme\/b2"[\s\S]*href="\/console\/brands\/zenith\/b2"/);
    if (engine === 'postgres') {
      const { text } = await support.get('/console/health');
      assert.match(text, /has all privileges that the administrative service needs, and no others/);
    }
  });
}

test('a search takes spaces around an id as part of it first, and then leaves them out', async (t) => {
  const { as, store } = await consoleScene(t);
  const viewer = await as('VIEWER');
  for (const id of [' spaced', 'spaced ', ' ']) {
    await store.createPartner({ id, name: 'x', created_at: createdAt }, byTest);
    const to = await find(viewer, id);
    assert.equal(to, `/console/partners/${encodeURIComponent(id)}`);
    assert.equal((await viewer.get(to)).status, 200);
  }
  assert.match(await find(viewer, 'spaced'), /partners\/%20spaced"/);
  assert.equal(await find(viewer, ' acme\n'), '/console/partners/acme');
});

test('a search that finds "." or ".." leads nowhere, and says that only the command line can', async (t) => {
  const { as, store } = await consoleScene(t);
  await store.createPartner({ id: '.', name: 'Dot', created_at: createdAt }, byTest);
  await store.createPartner({ id: 'dots', name: 'Dots', created_at: createdAt }, byTest);
  const times = { created_at: createdAt, updated_at: createdAt };
  await importValues(store, 'brands', [{ id: '..', name: 'Two', reference_id: 'r', ...times }], 'acme');
  const viewer = await as('VIEWER');
  for (const [id, name] of Object.entries({ '.': 'Dot', '..': 'Two', Dot: 'Dot' })) {
    const page = await find(viewer, id);
    assert.match(page, new RegExp(`<bdi>${name}[^<]*</bdi> \\(only the command line can name this id\\)`));
    assert.doesNotMatch(page, /href="[^"]*\/\.\.?["/?]/);
  }
  assert.match(await find(viewer, 'Dot'), /href="\/console\/partners\/dots"/);
  assert.doesNotMatch((await viewer.get('/console')).text, /href="[^"]*\/\.\.?["/?]/);
});

test('a leaked key is found by SUPPORT, and is in no address, page or log', async (t) => {
  const { as } = await consoleScene(t);
  const viewer = await as('VIEWER');
  const support = await as('SUPPORT');
  for (const [browser, id, status, said] of [
    [viewer, keys.acme, 403, /the role VIEWER/],
    [support, ` ${keys.acme}\n`, 303, /^\/console\/keys\/KEY_0$/],
    [support, keys.neverIssued, 404, /There is no such key/],
    [support, adminKeys.ADMIN, 404, /This is an administrative key\./],
    [support, keys.acme.slice(0, 30), 404, /There is no such key/],
  ] as const) {
    const answer = await browser.post('/console/search', { id });
    assert.equal(answer.status, status);
    assert.match(answer.to || answer.text, said);
    assert.doesNotMatch(answer.text + answer.to, /pna?_test_[0-9A-Za-z]/);
  }
});

test('a search without a hit says what to do', async (t) => {
  const { as } = await consoleScene(t);
  const viewer = await as('VIEWER');
  const none = await find(viewer, 'a"b<i>');
  assert.match(none, /Nothing has this id or name\.[\s\S]*href="\/console\/customers\/a%22b%3Ci%3E"/);
  assert.match(none, /a&quot;b&lt;i&gt;/);
  assert.match(await find(viewer, 'zenitt'), /Similar:[\s\S]*partners\/zenith/);
  assert.equal((await viewer.post('/console/search', { id: '\u0007' })).status, 404);
});

test('an exact id is found before any name that contains it, and a list that is cut says so', async (t) => {
  const { as, store } = await consoleScene(t);
  for (let index = 0; index < 60; index += 1) {
    const number = String(index).padStart(2, '0');
    const created_at = createdAt;
    await store.createPartner({ id: `named-${number}`, name: `b1 b2 alice ${number}`, created_at }, byTest);
    const grant = { partner_id: 'acme', action: 'CHECKING_BALANCE', status: 'ACTIVE' } as const;
    const own = { ...grant, id: 'KEY_0', customer_id: `customer-${number}` };
    await store.createGrant({ ...own, created_at, updated_at: created_at }, byTest);
  }
  const viewer = await as('VIEWER');
  assert.equal(await find(viewer, 'b1'), '/console/brands/acme/b1');
  assert.equal(await find(viewer, 'alice'), '/console/customers/alice');
  const listed = (page: string) => [...page.matchAll(/<td[^>]*><div><a href="\/console\/([^"]*)"/g)];
  const brands = await find(viewer, 'b2');
  const paths = listed(brands).map(([, path]) => path!);
  assert.deepEqual(paths.slice(0, 3), ['brands/acme/b2', 'brands/zenith/b2', 'partners/named-00']);
  assert.equal(paths.length, 50);
  assert.match(brands, />1 to 50 of 62 hits are shown\./);
  const more = await viewer.post('/console/search', { id: 'b2', from: '50' });
  const others = listed(more.text).map(([, path]) => path!);
  assert.match(
    brands,
    /<input type="hidden" name="id"\s+value="b2"><input type="hidden" name="from" value="50">/,
  );
  assert.match(more.text, />51 to 62 of 62 hits are shown\.[\s\S]*<button>First hits</);
  assert.equal(new Set([...paths, ...others]).size, 62);
  const grants = await find(viewer, 'KEY_0');
  assert.equal(listed(grants)[0]?.[1], 'keys/KEY_0');
  assert.match(grants, />1 to 50 of 61 hits are shown\./);
  assert.doesNotMatch(await find(viewer, 'named-0'), /hits are shown/);
  await store.createPartner({ id: 'z', name: 'Alice 0', created_at: createdAt }, byTest);
  assert.equal(listed(await find(viewer, 'alice 0'))[0]?.[1], 'partners/z');
});
