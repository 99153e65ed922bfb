/** The reference in a real browser: what it shows, what it sends and what it stores. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listings, type Parameter } from '@partner-network/contract/operations';
import type { Locator, Page, Request } from 'playwright-core';
import { acmeBrands, keys } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { until } from '../../../testkit/fixtures/until.ts';
import { launchChromium, needsChromium } from '../../../testkit/servers/chromium.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import type { Guide } from '../../src/reference/guides.ts';

const phone = { width: 390, height: 844 };

test('the reference, in a browser', needsChromium, async (t) => {
  const { port, call } = await startTestService(t, { demoKey: keys.acme });
  const origin = `http://127.0.0.1:${port}`;
  await using browser = await launchChromium();
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  // Short, so that the last part runs, which shows the errors of the browser.
  page.setDefaultTimeout(20_000);
  const requests: Request[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  // A broken fragment must not leave the page empty.
  await page.goto(`${origin}/docs#tag/%`);
  const client = page.getByRole('dialog', { name: 'API Client' });
  const box = client.getByLabel('Bearer Token');

  await t.test('its first text needs two small files', async () => {
    const { names, bytes, ms } = await page.evaluate<FirstText>(firstText);
    t.diagnostic(`first text after ${Math.round(ms)} ms, with ${bytes} bytes of ${names.join(' and ')}`);
    assert.ok(names.length === 2 && bytes < 12_000, `${bytes} bytes of ${names}`);
  });

  await t.test('it names every guide and both operations', async () => {
    const sidebar = page.getByRole('complementary');
    const { guides } = JSON.parse((await call('/docs/guides.json')).text) as { guides: Guide[] };
    for (const title of [...pluck(guides, 'title'), 'List brands', 'List balances']) {
      await sidebar.getByText(title, { exact: true }).first().waitFor();
    }
  });

  await t.test('it follows the light or dark scheme of the reader', async () => {
    assert.ok((await brightness(page)) > 200);
    await page.emulateMedia({ colorScheme: 'dark' });
    await until(20_000, async () => (await brightness(page)) < 60);
  });

  await t.test('a phone shows it without scrolling sideways', async () => {
    await page.setViewportSize(phone);
    await seeAll(page);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), phone.width);
    assert.deepEqual(await page.evaluate(clipped), []);
  });

  await t.test('an operation shows a page with a cursor, and the default of limit', async () => {
    for (const { name } of listings) {
      const section = page.locator(`section[id$="/GET/${name}"]`);
      await section.locator('.response-card').getByText('"cursor"').waitFor();
      await section.getByText('Default: 50.').waitFor();
    }
  });

  await t.test('the search finds the guide for an expired cursor', async () => {
    await page.keyboard.press('Control+k');
    const search = page.getByRole('dialog');
    await search.getByRole('combobox').fill('expired cursor');
    await search.getByRole('option').filter({ hasText: 'Pagination' }).first().waitFor();
    await page.keyboard.press('Escape');
  });

  await t.test('every link has a target', async () => {
    const addresses = (await page.evaluate<string[]>(linksOffPage)).map((link) => new URL(link, origin));
    const paths = new Set(pluck(addresses, 'pathname'));
    assert.ok(paths.has('/network/v1/openapi.json') && paths.has('/docs/guides/sandbox'));
    for (const path of paths) assert.equal((await page.request.get(origin + path)).status(), 200, path);
  });

  await t.test('a call with the offered key goes to the origin of the page', async () => {
    await page.getByRole('button', { name: 'Test Request' }).first().click();
    assert.equal(await box.inputValue(), keys.acme);
    const call = await send(client);
    assert.equal(new URL(call.url()).origin, origin);
    await client.getByText('200 OK').waitFor();
    await client.getByText(acmeBrands[1]!.name).waitFor();
    assert.ok(await isInSight(client.getByText('200 OK')), 'it is in sight also on a phone');
  });

  await t.test('the key can be removed, and then the 401 says what to do', async () => {
    await client.getByRole('button', { name: 'Clear Value' }).click();
    const call = await send(client);
    assert.equal(await call.headerValue('authorization'), 'Bearer');
    await client.getByText('401 Unauthorized').waitFor();
    assert.equal(await box.inputValue(), '');
    assert.match(await client.innerText(), /"detail": "Send /);
  });

  await t.test('the typed key is sent', async () => {
    await box.pressSequentially(keys.neverIssued);
    const call = await send(client);
    assert.equal(await call.headerValue('authorization'), `Bearer ${keys.neverIssued}`);
    await client.getByText('"UNAUTHORIZED"').waitFor();
  });

  await t.test('the form has a key and parameters, and nothing else', async () => {
    const form = client.getByRole('region', { name: 'Request: List brands' });
    const parts = (await form.getByRole('button', { expanded: true }).allInnerTexts()).map((name) =>
      name.trim(),
    );
    assert.deepEqual(parts, ['Authentication\nRequired', 'Query Parameters']);
  });

  await t.test('the key is stored nowhere', async () => {
    assert.equal(await box.inputValue(), keys.neverIssued);
    const { storage, databases, caches } = await page.evaluate<Kept>(kept);
    const texts = JSON.stringify([storage, await page.context().cookies(), page.url()]);
    // Both the offered and the typed key begin with this.
    assert.ok(!texts.includes('pn_test_'), texts);
    assert.deepEqual([databases, caches], [[], []]);
  });

  for (const operation of listings) {
    await t.test(`the form of ${operation.name} sends what is typed, and nothing else`, async () => {
      await page.route(`${origin}/network/v1/b*`, (route) => route.fulfill({ json: {} }));
      // The query makes the browser load the page again, without the form that is open.
      await page.goto(`${origin}/docs?${operation.id}#tag/${operation.name}/GET/${operation.name}`);
      await page.locator(`section[id$="/GET/${operation.name}"] .show-api-client-button`).click();
      const form = client.getByRole('region', { name: `Request: List ${operation.name}` });
      const boxOf = (name: string) =>
        form
          .getByRole('row', { name: `Include ${name} in request` })
          .getByRole('combobox', { name: 'Value' });
      const sent = async () => Object.fromEntries(new URL((await send(client)).url()).searchParams);
      const parameters = Object.entries<Parameter>(operation.parameters);
      const examples = parameters
        .filter(([, { required }]) => required)
        .map(([name, { example }]) => [name, example]);
      const unchanged = Object.fromEntries(examples);
      assert.deepEqual(await sent(), unchanged, 'only required parameters are filled in');

      // A parameter with fixed values has a menu in place of a box.
      const typed = parameters.filter(([, { schema }]) => !('enum' in schema)).map(([name]) => name);
      for (const name of typed) await boxOf(name).fill(`my ${name}&1`);
      const all = { ...unchanged, ...Object.fromEntries(typed.map((name) => [name, `my ${name}&1`])) };
      assert.deepEqual(await sent(), all);

      for (const name of typed) await boxOf(name).fill('');
      await boxOf('limit').pressSequentially('7');
      const fixed = Object.entries(unchanged).filter(([name]) => !typed.includes(name));
      assert.deepEqual(await sent(), { ...Object.fromEntries(fixed), limit: '7' });
    });
  }

  await t.test('no request went to another host', () => {
    assert.ok(requests.length > 10);
    const elsewhere = requests.filter((request) => !/^(data|blob):/.test(request.url()));
    assert.deepEqual([...new Set(elsewhere.map((request) => new URL(request.url()).origin))], [origin]);
  });

  await t.test('the browser reported no errors but the 401s', () => {
    assert.deepEqual(
      complaints.map((text) => text.replace(/.*status of (\d+).*/, '$1')),
      ['401', '401'],
    );
  });
});

interface FirstText {
  readonly names: readonly string[];
  readonly bytes: number;
  readonly ms: number;
}

/** The files that the browser needs before it shows text, and when it did. */
const firstText = `(() => {
  const resources = performance.getEntriesByType('resource');
  const blocking = resources.filter(({ renderBlockingStatus }) => renderBlockingStatus === 'blocking');
  const files = [...performance.getEntriesByType('navigation'), ...blocking];
  return {
    names: files.map(({ name }) => new URL(name).pathname),
    bytes: files.reduce((sum, { transferSize }) => sum + transferSize, 0),
    ms: performance.getEntriesByName('first-contentful-paint')[0].startTime,
  };
})()`;

/** Sends the form, and resolves to its request. */
async function send(client: Locator): Promise<Request> {
  const sent = client.page().waitForRequest(/\/network\/v1\/(brands|balances)/);
  const button = client.getByRole('button', { name: /^Send get request/ });
  await button.filter({ visible: true }).click();
  return sent;
}

async function isInSight(element: Locator): Promise<boolean> {
  const { y = phone.height, height = 0 } = (await element.boundingBox()) ?? {};
  return y >= 0 && y + height <= phone.height / 2;
}

/** Everything that a browser stores beyond a page, except cookies. */
interface Kept {
  readonly storage: object[];
  readonly databases: object[];
  readonly caches: string[];
}

const kept = `(async () => ({
  storage: [{ ...localStorage }, { ...sessionStorage }],
  databases: await indexedDB.databases(),
  caches: await caches.keys(),
}))()`;

/** The brightness of the page's background, from 0 to 255. */
async function brightness(page: Page): Promise<number> {
  const color = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  return Math.max(...(color.match(/\d+/g) ?? []).slice(0, 3).map(Number));
}

/** Scrolls through the page: the library renders a part when it becomes visible. */
async function seeAll(page: Page): Promise<void> {
  await page.evaluate(scrollThrough);
  await page.getByRole('button', { name: 'Test Request' }).nth(1).waitFor();
}

const scrollThrough = `(async () => {
  for (const part of document.querySelectorAll('section[id*="tag/"]')) {
    part.scrollIntoView();
    await new Promise(requestAnimationFrame);
  }
})()`;

/** Tables and code of the guides that are wider than their column, which would cut them off. */
const clipped = `[...document.querySelectorAll('.markdown :is(table, pre, pre code)')]
  .filter((part) => part.scrollWidth > part.closest('.markdown').clientWidth + 1)
  .map((part) => part.innerText)`;

/** Links of the guides, the sidebar and the skip links that have no target on the page. */
const linksOffPage = `[...document.querySelectorAll('.markdown a[href], aside a[href], .skip a[href]')]
  .filter((link) => link.checkVisibility())
  .map((link) => link.getAttribute('href'))
  .filter((href) => {
    const id = decodeURIComponent(href.slice(1));
    const isThere = document.getElementById(id) ?? document.querySelector('[id$="/' + CSS.escape(id) + '"]');
    return !href.startsWith('#') || isThere === null;
  })`;
