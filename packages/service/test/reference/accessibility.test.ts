/** The reference before its library has loaded, without scripts, by keyboard and for screen readers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import axe from 'axe-core';
import type { Browser, Page, Route } from 'playwright-core';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { longRunOnly } from '../../../testkit/fixtures/long-run.ts';
import { launchChromium, needsChromium } from '../../../testkit/servers/chromium.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { guideList } from '../../src/reference/guide-list.ts';

const phone = { width: 390, height: 844 };
const desktop = { width: 1280, height: 900 };
const library = /\/docs\/library-/;

/** Faults of the library's form for requests that no option changes. */
const faultsOfLibrary = [
  // Buttons with the role "none", which hides them from screen readers.
  '.scalar-client button[role="none"]',
  // Text boxes with the role "combobox", without its required attributes.
  '.scalar-client .code-input-lite__editor',
  // The form has a main landmark of its own within the dialog.
  '.scalar-client main',
];

test('the reference, for every reader', {
  ...needsChromium,
  skip: longRunOnly || needsChromium.skip,
}, async (t) => {
  const { port } = await startTestService(t, { demoKey: keys.acme });
  const address = `http://127.0.0.1:${port}/docs`;
  await using browser = await launchChromium();

  await t.test('without scripts, the operations and the guides can be read', async () => {
    await using context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(address);
    assert.match(await page.locator('.notice').innerText(), /^You can read everything here/);
    await page.getByRole('link', { name: 'List balances', exact: true }).click();
    await page.getByRole('heading', { name: 'Fields of a balance' }).waitFor();
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('heading', { name: 'Store keys safely' }).waitFor();
    assert.match(page.url(), /\/docs\/guides\/keys$/);
  });

  await t.test(
    'the page can be read before the library has loaded, and the reader keeps the place',
    async () => {
      const page = await pageOf(browser);
      const held = Promise.withResolvers<Route>();
      await page.route(library, held.resolve);
      await page.goto(address, { waitUntil: 'commit' });
      const fields = page.getByRole('heading', { name: 'Fields of a balance' });
      await fields.scrollIntoViewIfNeeded();
      await (await held.promise).continue();
      await page.locator('section[id$="/tag/balances/GET/balances"]').waitFor();
      assert.equal(await page.locator('#plain').count(), 0, 'the library replaces the plain page');
      assert.match(page.url(), /#tag\/balances\/GET\/balances$/);
    },
  );

  await t.test('if the library cannot be loaded, the page says so and can be read', async () => {
    const page = await pageOf(browser);
    await page.route(library, (route) => route.abort());
    await page.goto(address);
    await page.getByRole('alert').getByText('The interactive reference did not load.').waitFor();
    await page.getByRole('heading', { name: 'Fields of a brand' }).waitFor();
  });

  await t.test('the plain pages have no accessibility violations, and fit a phone', async () => {
    const page = await pageOf(browser);
    await page.route(/\.js$/, (route) => route.abort());
    await page.goto(address);
    assert.deepEqual(await violations(page), []);
    await page.setViewportSize(phone);
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const path of ['', '/guides', ...guideList.map(({ name }) => `/guides/${name}`)]) {
      await page.goto(address + path);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), phone.width);
      assert.deepEqual(await violations(page), []);
    }
  });

  await t.test(
    'the full page and its form have no accessibility violations',
    {
      skip: longRunOnly,
    },
    async () => {
      const page = await pageOf(browser);
      await page.goto(address);
      await seeAll(page);
      assert.deepEqual(await violations(page), []);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.locator('body.dark-mode').waitFor();
      await page.setViewportSize(phone);
      await seeAll(page);
      assert.deepEqual(await violations(page, 'section[id*="/GET/"]'), []);
      await page.getByRole('button', { name: 'Test Request' }).first().click();
      await page.getByRole('dialog', { name: 'API Client' }).waitFor();
      assert.deepEqual(await violations(page, '[role="dialog"]'), []);
    },
  );

  await t.test('"Test Request" of the second operation opens after four key presses', async () => {
    const page = await pageOf(browser);
    await page.goto(address);
    await page.getByRole('complementary').waitFor();
    const focused = page.locator(':focus');
    for (const operation of ['List brands', 'List balances']) {
      await page.keyboard.press('Tab');
      await page
        .getByRole('link', { name: `Skip to ${operation}` })
        .and(focused)
        .waitFor();
    }
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Test Request' }).and(focused).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Request: List balances' }).waitFor();
  });
});

async function pageOf(browser: Browser): Promise<Page> {
  const page = await browser.newPage({ viewport: desktop, colorScheme: 'light' });
  page.setDefaultTimeout(30_000);
  return page;
}

/** Scrolls to both operations: the library renders an operation when it becomes visible. */
async function seeAll(page: Page): Promise<void> {
  for (const name of ['brands', 'balances']) {
    await page.locator(`[id$="/tag/${name}/GET/${name}"]`).scrollIntoViewIfNeeded();
    await page.locator(`section[id$="/GET/${name}"] .show-api-client-button`).waitFor();
  }
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** What axe-core finds in a part of the page, by rule and selector. The whole page takes 4 seconds. */
async function violations(page: Page, part = 'html'): Promise<string[]> {
  await page.evaluate(axe.source);
  const context = JSON.stringify({ include: [part], exclude: faultsOfLibrary });
  const found = await page.evaluate<{ violations: Violation[] }>(
    `axe.run(${context}, { resultTypes: ['violations'] })`,
  );
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}
