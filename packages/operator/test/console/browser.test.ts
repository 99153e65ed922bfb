/** The console in a real browser, without scripts, by keyboard, and for screen readers. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { adminKeys } from '../../../testkit/admin/started.ts';
import { byTest } from '../../../testkit/fixtures/fixture.ts';
import { isLongRun } from '../../../testkit/fixtures/lifetime.ts';
import { launchChromium, needsChromium } from '../../../testkit/servers/chromium.ts';
import { freePort } from '../../../testkit/servers/free-port.ts';
import { keepKeysIn } from '../../../testkit/watch/logs.ts';
import { consoleScene, fillUse, oidcOf, pagePaths } from './scene.ts';

/** Both widths and both schemes. What axe finds in colors does not depend on the width. */
const looks = [
  { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
] as const;

test('the console, for every reader', needsChromium, async (t) => {
  const { address, store, as } = await consoleScene(t);
  await fillUse(store);
  for (const [id, name] of [
    ['arabic', 'شركة المدفوعات '.repeat(20).slice(0, 256)],
    ['japanese', '株式会社日本決済'.repeat(40).slice(0, 256)],
  ] as const) {
    await store.createPartner({ id: id.repeat(12), name, created_at: '2026-01-01T00:00:00.000Z' }, byTest);
  }
  await using browser = await launchChromium();

  await t.test('no page has an accessibility violation, or is wider than the screen', async () => {
    const { cookie } = await as('ADMIN');
    const [name = '', value = ''] = cookie.split('=');
    const paths = [
      ...pagePaths,
      '/console/partners/acme/create-key',
      '/console/partners/acme/limit',
      '/console/keys/KEY_0/rotate',
      '/console/keys/KEY_0/revoke',
      '/console/customers/alice/erase',
      `/console/partners/${'japanese'.repeat(12)}`,
      '/console/nope',
      '/console/receipts?partner_id=acm&outcome=none&since=soon',
      '/console/audit?actor=testr&span=today',
      '/console/requests/0190aaaa-0000-7000-8000-0000000000ff',
    ];
    for (const look of looks) {
      await using context = await browser.newContext(look);
      const page = await context.newPage();
      await page.goto(`${address}/console`);
      assert.deepEqual(await faultsOf(page, look.viewport.width), [], 'sign in');
      await context.addCookies([{ name, value, url: `${address}/console` }]);
      // npm test has time for one look at each page.
      for (const path of paths.filter((_, at) => isLongRun || at % 2 === looks.indexOf(look))) {
        await page.goto(address + path);
        for (const summary of await page.locator('summary:visible').all()) await summary.click();
        assert.deepEqual(await faultsOf(page, look.viewport.width), [], path);
      }
      for (const [path, field, value, button] of [
        ['/console/customers/alice/erase', 'Write the customer id to confirm', 'zoe', 'Erase the customer'],
        ['/console/partners/acme/create-key', 'Name, to recognize the key', 'mine', 'Create a key'],
      ] as const) {
        await page.goto(address + path);
        if (path.endsWith('key')) await page.getByLabel('BRANDS_READ').check();
        await page.getByLabel(field).fill(value);
        await page.getByLabel('Reason').fill('why');
        await page.getByRole('button', { name: button }).click();
        await page.getByRole(path.endsWith('key') ? 'status' : 'alert').waitFor();
        assert.deepEqual(await faultsOf(page, look.viewport.width), [], `after ${path}`);
      }
    }
  });

  await t.test('a new key is on one line of a phone, and copied exactly, also without scripts', async () => {
    const { cookie } = await as('ADMIN');
    const [name = '', value = ''] = cookie.split('=');
    for (const javaScriptEnabled of [true, false]) {
      await using context = await browser.newContext({ ...looks[0], javaScriptEnabled });
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address });
      await context.addCookies([{ name, value, url: `${address}/console` }]);
      const page = await context.newPage();
      const form = await page.goto(`${address}/console/keys/KEY_0/rotate`);
      assert.doesNotMatch(form?.headers()['content-security-policy'] ?? '', /script-src/);
      await page.getByLabel('Reason').fill('why');
      const answer = page.waitForResponse((response) => response.request().method() === 'POST');
      await page.getByRole('button', { name: 'Rotate the key' }).click();
      assert.match(
        (await answer).headers()['content-security-policy'] ?? '',
        /^default-src 'none'; script-src 'self'; style-src/,
      );
      const key = (await page.locator('.secret').textContent()) ?? '';
      keepKeysIn(key);
      assert.match(key, /^pn_test_\w{49}$/);
      assert.equal(await page.locator('#copy').isVisible(), javaScriptEnabled);
      if (javaScriptEnabled) {
        await page.getByRole('button', { name: 'Copy the key' }).click();
        await page.getByRole('button', { name: 'Copied' }).waitFor();
        assert.equal(await page.evaluate('navigator.clipboard.readText()'), key);
        assert.equal(await page.evaluate(linesOfKey), 1);
        assert.deepEqual(await faultsOf(page, looks[0].viewport.width), []);
      }
    }
  });

  await t.test('a preset keeps what is typed and chosen, and the Enter key filters', async () => {
    const { cookie } = await as('VIEWER');
    const [name = '', value = ''] = cookie.split('=');
    const page = await pageWithoutScripts(browser);
    await page.context().addCookies([{ name, value, url: `${address}/console` }]);
    await page.goto(`${address}/console/receipts`);
    await page.locator('[name=partner_id]').fill('acme');
    await page.getByLabel('Outcome').selectOption('GRANT_EXPIRED');
    await page.getByRole('button', { name: 'Yesterday' }).click();
    await page.waitForURL(/partner_id=acme&.*outcome=GRANT_EXPIRED&.*span=yesterday$/);
    await page.locator('[name=key_id]').fill('KEY_1');
    await page.keyboard.press('Enter');
    await page.waitForURL(/key_id=KEY_1&.*since=\d[^&]*&until=\d[^&]*$/);
  });

  await t.test('by keyboard and without scripts: sign in, see why, revoke the key', async () => {
    const page = await pageWithoutScripts(browser);
    await page.goto(`${address}/console/partners/closed`);
    await page.getByLabel('Administrative key').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(adminKeys.SUPPORT);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'closed' }).waitFor();
    await tabTo(page, 'searchbox', 'Id, partner’s name or leaked key');
    await page.keyboard.type('ACME');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Why was it refused?' }).waitFor();
    const row = page.getByRole('row', { name: /^INSUFFICIENT_SCOPES 403 The key does not have the scope/ });
    await row.waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await tabTo(page, 'link', 'KEY_1');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Key KEY_1' }).waitFor();
    await tabTo(page, 'link', 'Revoke');
    await page.keyboard.press('Enter');
    await page.getByText('Nobody can take this back.').waitFor();
    await tabTo(page, 'textbox', 'Reason');
    await page.keyboard.type('Wrong scope, ticket 7');
    await tabTo(page, 'button', 'Revoke the key');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('The key is revoked.').waitFor();
    await page.getByRole('cell', { name: /Wrong scope, ticket 7/ }).waitFor();
    await tabTo(page, 'button', 'Sign out');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    assert.ok((await store.findKeyById('KEY_1'))?.revoked_at);
  });
});

/** A rectangle for each line of the text. */
const linesOfKey = `(() => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector('.secret'));
  return range.getClientRects().length;
})()`;

async function pageWithoutScripts(browser: Browser): Promise<Page> {
  const page = await browser.newPage({ javaScriptEnabled: false, viewport: looks[1].viewport });
  page.setDefaultTimeout(30_000);
  return page;
}

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, role: 'link' | 'button' | 'textbox' | 'searchbox', name: string) {
  const wanted = page.getByRole(role, { name, exact: true }).and(page.locator(':focus'));
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press('Tab');
    if ((await wanted.count()) === 1) return;
  }
  assert.fail(`the keyboard does not reach ${role} ${name}`);
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** What is too high or too small for fingers. A link in a sentence may be. */
const faultsOnPhone = `(() => {
  const header = document.querySelector('header').offsetHeight;
  const pressed = 'a:not(.skip), button, input:not([type=hidden], .check *), select, summary, .check';
  const small = [...document.querySelectorAll(pressed)].filter((one) => {
    const beside = [...one.parentElement.childNodes].filter((node) => node.nodeType === 3);
    const isInSentence = one.matches('a') && beside.some((node) => node.textContent.trim());
    return one.checkVisibility() && one.getBoundingClientRect().height < 44 && !isInSentence;
  });
  return [...(header > 110 ? ['header: ' + header] : []), ...small.map((one) => 'small: ' + one.outerHTML)];
})()`;

/** What axe finds, by rule and selector, whether the page is too wide, and what does not fit a phone. */
async function faultsOf(page: Page, width: number): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<{ violations: Violation[] }>(`axe.run({ resultTypes: ['violations'] })`);
  const widest = await page.evaluate<number>('document.documentElement.scrollWidth');
  return [
    ...found.violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`)),
    ...(widest > width ? [`${widest} pixels wide`] : []),
    ...(width < 640 ? await page.evaluate<string[]>(faultsOnPhone) : []),
  ];
}

test(
  'sign in with a real identity provider: work, come back after the end, sign out',
  needsChromium,
  async (t) => {
    const port = await freePort();
    const issuer = `http://localhost:${port}`;
    const { address } = await consoleScene(t, 'sqlite', oidcOf(issuer, { 'oidc-session': 900_000 }));
    const program = fileURLToPath(new URL('../../../testkit/identity/provider.ts', import.meta.url));
    const provider = spawn(process.execPath, [program, String(port), `${address}/console/sign-in/callback`]);
    t.after(() => provider.kill('SIGKILL'));
    await once(provider.stdout, 'data');
    await using browser = await launchChromium();
    const page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
    page.setDefaultTimeout(10_000);
    await page.goto(`${address}/console/keys/KEY_0`);
    assert.deepEqual(await faultsOf(page, 390), [], 'sign in');
    await page.getByRole('link', { name: 'Sign in with localhost' }).click();
    await page.locator('[name=login]').fill('mallory.interns');
    await page.locator('[name=password]').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'No role here' }).waitFor();
    await page.getByText('mallory@example.com').waitFor();
    assert.deepEqual(await faultsOf(page, 390), [], 'no role');

    await page.context().clearCookies();
    await page.goto(`${address}/console/keys/KEY_0`);
    await page.getByRole('link', { name: 'Sign in with localhost' }).click();
    await page.locator('[name=login]').fill('alice.support');
    await page.locator('[name=password]').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Key KEY_0' }).waitFor();
    assert.doesNotMatch(page.url(), /code=|state=/);

    await page.getByRole('link', { name: 'Revoke' }).click();
    await page.getByLabel('Reason').fill('Left the company');
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 900_000 });
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('nothing was changed').waitFor();
    assert.deepEqual(await faultsOf(page, 390), [], 'a form after the end');
    await page.getByRole('link', { name: 'Sign in with localhost' }).click();
    await page.getByRole('heading', { name: 'Revoke the key' }).waitFor();
    assert.equal(await page.getByLabel('Reason').inputValue(), 'Left the company');
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('The key is revoked.').waitFor();
    t.mock.timers.tick(900_000);
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    await page.getByText('alice@example.com').first().waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Yes, sign me out' }).click();
    await page.goto(`${address}/console/audit`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  },
);
