/** The pages for partners in a real browser: what they show, what they send and what they store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listings, type Parameter } from '@partner-network/contract/operations';
import axe from 'axe-core';
import type { Page, Request } from 'playwright-core';
import { acmeBrands, keys } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { launchChromium, needsChromium } from '../../../testkit/servers/chromium.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { guideList } from '../../src/site/guides.ts';

const phone = { width: 390, height: 844 };
const desk = { width: 1280, height: 900 };
const operations = listings.map(({ id }) => `/docs/operations/${id}`);
const others = ['/docs/clients', '/docs/search?q=retry', '/docs/nowhere'];
const guides = pluck(guideList, 'path');
const paths = ['/docs', ...operations, ...guides, ...others];
/** Dark, guides differ from another only in their words. Axe takes half a second for a page. */
const inBothSchemes = paths.filter((path) => !guides.includes(path) || path === guides[0]);

test('the site, in a browser', { ...needsChromium, timeout: 240_000 }, async (t) => {
  const { port } = await startTestService(t, { demoKey: keys.acme });
  const origin = `http://127.0.0.1:${port}`;
  await using browser = await launchChromium();
  const context = await browser.newContext({ viewport: desk, colorScheme: 'light' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const requests: Request[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  const form = page.locator('form.try');
  const answer = page.getByRole('region', { name: 'Response' });
  const press = (name: string) => form.getByRole('button', { name, exact: true }).click();

  await t.test('no page has an accessibility violation, and each fits a phone, light and dark', async () => {
    for (const [viewport, colorScheme] of [
      [desk, 'light'],
      [phone, 'dark'],
    ] as const) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      for (const path of paths) {
        await page.goto(origin + path);
        if (colorScheme === 'light' || inBothSchemes.includes(path)) {
          assert.deepEqual(await violations(page), [], `${path} ${colorScheme}`);
        }
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width, path);
        assert.equal((await brightness(page)) > 128, colorScheme === 'light');
      }
    }
    complaints.splice(0).forEach((text) => {
      assert.match(text, /404/);
    });
  });

  await t.test('on a phone, the menu opens, names the current page, and leads to another', async () => {
    await page.goto(`${origin}/docs/guides/keys`);
    await page.getByRole('button', { name: 'Menu' }).click();
    assert.equal(await page.locator('[aria-current="page"]').innerText(), 'API keys');
    const { y } = (await page.locator('[aria-current="page"]').boundingBox())!;
    assert.ok(y > 0 && y < phone.height, `the current page is at ${y}`);
    assert.deepEqual(await violations(page), []);
    const menu = page.getByRole('navigation', { name: 'Pages' });
    await menu.getByRole('link', { name: 'Test a key' }).click();
    await menu.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Menu' }).click();
    await menu.getByRole('link', { name: 'List brands' }).click();
    await page.getByRole('heading', { name: 'List brands', level: 1 }).waitFor();
    await page.setViewportSize(desk);
    await page.emulateMedia({ colorScheme: 'light' });
  });

  await t.test('an operation has two columns on a desk', async () => {
    const [left, right] = await Promise.all(
      ['Parameters', 'Example request'].map((name) => page.getByRole('heading', { name }).boundingBox()),
    );
    assert.ok(left!.x + 300 < right!.x);
  });

  await t.test('a button copies a sample, and the chosen tab stays chosen on the next page', async () => {
    const tabs = page.locator('.tabs').first();
    const [first, second] = await tabs.locator('label').allInnerTexts();
    await tabs.getByText(second!, { exact: true }).click();
    const code = tabs.locator('pre:visible');
    await code.getByRole('button', { name: 'Copy' }).click();
    await code.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.equal(copied, (await code.locator('code').textContent())!.trimEnd());
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: 'List balances' })
      .click();
    await page.getByRole('heading', { name: 'List balances', level: 1 }).waitFor();
    assert.equal(await page.getByRole('radio', { name: second!, exact: true }).isChecked(), true);
    await page.getByText(first!, { exact: true }).click();
    assert.equal(await page.getByRole('radio', { name: second!, exact: true }).isChecked(), false);
  });

  await t.test('the search finds while the reader types, and Enter opens the first hit', async () => {
    await page.keyboard.press('/');
    await page.getByRole('searchbox').fill('INVALID_CURSOR');
    await page.locator('#hits').getByRole('link').first().getByText('INVALID_CURSOR').waitFor();
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/docs/errors#invalid_cursor`);
    // Also before the index is loaded. What is shown begins near the word.
    await page.goto(`${origin}/docs`);
    await page.getByRole('searchbox').fill('idempotency');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/docs/guides/errors#retry-a-request`);
    await page.getByRole('searchbox').fill('idempot');
    await page.locator('#hits').getByText('needs no idempotency keys').waitFor();
    await page.getByRole('searchbox').fill('');
    await page.keyboard.press('Enter');
    assert.equal(page.url(), `${origin}/docs/guides/errors#retry-a-request`);
  });

  await t.test('a link of version 0.2.0 leads to its section', async () => {
    await page.goto(`${origin}/docs/guides/sandbox#sandbox-rehearsals`);
    await page.waitForURL(/#rehearsals$/);
  });

  await t.test(
    'a request with the demo key shows status, headers, body, and then the next page',
    async () => {
      await page.goto(`${origin}/docs/operations/listBrands`);
      await form.getByLabel('limit', { exact: true }).fill('1');
      await press('Send');
      await answer.getByText('200 OK').waitFor();
      assert.match(await answer.innerText(), /in \d+ ms\..*x-request-id: [0-9a-f-]{36}/s);
      await answer.getByText(`"${brands[0]!.id}"`).waitFor();
      assert.deepEqual(await violations(page), []);
      await answer.getByText('More pages follow').waitFor();
      // What was typed since then is not sent: a cursor belongs to its request.
      await form.getByLabel('limit', { exact: true }).fill('2');
      await press('Next page');
      await answer.getByText(`"${brands[1]!.id}"`).waitFor();
      assert.equal(await form.getByLabel('cursor', { exact: true }).inputValue(), '');
      assert.match(
        await form.innerText(),
        /curl -i -H "Authorization: Bearer \$PARTNER_NETWORK_API_KEY" 'http.*limit=1/,
      );
      const header = await page.getByRole('banner').boundingBox();
      const shown = await answer.getByText('200 OK').boundingBox();
      assert.ok(shown!.y > header!.height, 'the header of the page does not cover the response');
      await form.getByLabel('limit', { exact: true }).fill('100');
      await press('Send');
      await answer.getByText('This is the last page').waitFor();
    },
  );

  await t.test('an error has its advice and a link to the catalogue', async () => {
    await form.getByLabel('limit', { exact: true }).fill('0');
    await press('Send');
    await answer.getByText('400 Bad Request').waitFor();
    await answer.getByText('Set limit to at least 1.').first().waitFor();
    await answer.getByText('Send a limit of at least 1, or leave it out').waitFor();
    await answer.getByRole('link', { name: 'VALUE_TOO_LOW' }).click();
    await page.waitForURL(`${origin}/docs/errors#value_too_low`);
  });

  await t.test('the key is sent as typed, is not sent if it is removed, and is stored nowhere', async () => {
    await page.goto(operationAt(origin, 'listBrands'));
    const box = form.getByLabel('API key');
    assert.equal(await box.inputValue(), keys.acme);
    await box.fill('');
    assert.equal(await (await sent(page, press)).headerValue('authorization'), null);
    await answer.getByText('www-authenticate: Bearer').waitFor();
    await answer.getByText('It was sent without a key.').waitFor();
    await box.fill(keys.neverIssued);
    assert.equal(await (await sent(page, press)).headerValue('authorization'), `Bearer ${keys.neverIssued}`);
    await answer.getByRole('link', { name: 'UNAUTHORIZED' }).waitFor();
    const { storage, databases, caches } = await page.evaluate<Kept>(kept);
    const texts = JSON.stringify([storage, await context.cookies(), page.url()]);
    // Both the offered and the typed key begin with this.
    assert.ok(!texts.includes('pn_test_'), texts);
    assert.deepEqual([databases, caches], [[], []]);
    await box.fill('schlüssel\u2028');
    await press('Send');
    await answer.getByText('No response: the key has “\u2028” (U+2028)').waitFor();
  });

  for (const operation of listings) {
    await t.test(`the form of ${operation.name} sends what is typed, and nothing else`, async () => {
      await page.goto(operationAt(origin, operation.id));
      const query = async () => new URL((await sent(page, press)).url()).search;
      const parameters = Object.entries<Parameter>(operation.parameters);
      const required = parameters.filter(([, parameter]) => parameter.required);
      const examples = required.map(([name, { example }]) => `${name}=${example}`).join('&');
      assert.equal(await query(), examples && `?${examples}`, 'only required parameters are filled in');
      const typed = parameters.map(([name]) => [name, `my ${name}&ü'"<`] as const);
      for (const [name, value] of typed) await form.getByLabel(name, { exact: true }).fill(value);
      assert.deepEqual(Object.fromEntries(new URLSearchParams(await query())), Object.fromEntries(typed));
      for (const [name] of typed) await form.getByLabel(name, { exact: true }).fill('');
      assert.equal(await query(), '');
      await form.locator('[name="cursor"]').check();
      await form.getByLabel('More of the query').fill('limit=1&limit=%FF#[');
      assert.equal(await query(), '?cursor=&limit=1&limit=%FF%23[');
      await form.getByText(/^curl -i -g .*%23\['$/).waitFor();
    });
  }

  await t.test('no request went to another host, and the browser reported nothing but our errors', () => {
    assert.ok(requests.length > 100);
    assert.deepEqual([...new Set(requests.map((request) => new URL(request.url()).origin))], [origin]);
    for (const text of complaints) assert.match(text, /the server responded with a status of 40[013]/);
  });

  await t.test(
    'without scripts, pages, tabs, menu and search work, and curl stands for the form',
    async () => {
      await using plain = await browser.newContext({ javaScriptEnabled: false, viewport: phone });
      const other = await plain.newPage();
      await other.goto(operationAt(origin, 'listBalances'));
      await other.locator('.tabs').last().getByText('403', { exact: true }).click();
      await other.getByText('"PARTNER_DISABLED"').waitFor();
      assert.equal(await other.locator('form.try').isVisible(), false);
      await other.locator('h2#try-it + pre', { hasText: 'balances?customer_id=' }).waitFor();
      await other.getByRole('button', { name: 'Menu' }).click();
      await other.getByRole('navigation').getByRole('link', { name: 'API keys' }).click();
      await other.getByRole('heading', { name: 'Store keys safely' }).waitFor();
      await other.getByRole('searchbox').fill('retry');
      await other.keyboard.press('Enter');
      await other.getByRole('main').getByRole('link', { name: 'Retry a request' }).click();
      await other.waitForURL(/\/docs\/guides\/errors#retry-a-request$/);
    },
  );
});

const brands = acmeBrands.toSorted((one, other) => (one.id < other.id ? -1 : 1));

const operationAt = (origin: string, id: string) => `${origin}/docs/operations/${id}`;

/** Sends the form, and resolves to its request. */
async function sent(page: Page, press: (name: string) => Promise<void>): Promise<Request> {
  const request = page.waitForRequest(/\/network\/v1\/(brands|balances)/);
  await press('Send');
  return request;
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

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** What axe-core finds on the page, by rule and selector, without exceptions. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<{ violations: Violation[] }>(`axe.run({ resultTypes: ['violations'] })`);
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}
