/**
 * Makes the pictures of README.md and docs/how-to/operators/console.md, in a sandbox of its own:
 * `npx node scripts/pages/pictures.ts`.
 * Needs Chromium. Run it when a page has changed so much that a picture would mislead. The times in the
 * pictures are those of the run, so no test compares them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { demoAdminKey } from '../../packages/operator/src/demo/data.ts';
import { openLifetime, temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { start } from '../../packages/testkit/fixtures/run.ts';
import { launchChromium } from '../../packages/testkit/servers/chromium.ts';
import { freePort } from '../../packages/testkit/servers/free-port.ts';

const folder = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const width = 1280;

/** The most bytes of a picture. Git keeps every version of it. */
const mostBytes = 150_000;

await using lifetime = openLifetime();
const port = await freePort();
const adminPort = await freePort();
const sandbox = start(lifetime, [
  'sandbox',
  `--port=${port}`,
  `--admin-port=${adminPort}`,
  `--data=${temporaryFolder(lifetime)}`,
  '--actor=ops@network.example',
]);
await sandbox.says('stdout', /Press Ctrl-C to stop\./);
await using browser = await launchChromium();
mkdirSync(folder, { recursive: true });
await takePicturesOfConsole(await openPage(false), `http://127.0.0.1:${adminPort}/console`);
await takePictureOfReference(await openPage(true), `http://127.0.0.1:${port}/docs/operations/listBrands`);

function openPage(javaScriptEnabled: boolean): Promise<Page> {
  return browser.newPage({ javaScriptEnabled, viewport: { width, height: 1_000 }, colorScheme: 'light' });
}

async function takePictureOfReference(page: Page, address: string): Promise<void> {
  await page.goto(address, { waitUntil: 'networkidle' });
  await keep(page, 'reference', 620);
}

async function takePicturesOfConsole(page: Page, address: string): Promise<void> {
  const press = (role: 'link' | 'button', name: string) =>
    page.getByRole(role, { name, exact: true }).first().click();
  await page.goto(address);
  await page.getByLabel('Administrative key').fill(demoAdminKey.text);
  await press('button', 'Sign in');
  await press('link', 'Northwind Market');
  await keep(page, 'refused', 612);

  await press('link', 'All receipts of this partner');
  const newest = Date.parse((await page.locator('td time').first().getAttribute('datetime'))!);
  await page.getByLabel('From (UTC)').fill(minuteOf(newest));
  await page.getByLabel('Before (UTC)').fill(minuteOf(newest + 60_000));
  await press('button', 'Filter');
  await keep(page, 'receipts', 640);

  await press('link', 'KEY_NORTHWIND_BRANDS');
  await press('link', 'Revoke');
  await page.getByLabel('Reason').fill('Asks for balances with the wrong key, ticket 4711');
  await keep(page, 'revoke', 430);
  await press('button', 'Revoke the key');

  await page.goto(`${address}/customers/CUSTOMER_1004`);
  await keep(page, 'customer', 520);

  await page.goto(`${address}/audit`);
  await keep(page, 'audit', 500);
}

/** A time as the field of a browser takes it. */
function minuteOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16);
}

/** Keeps the top of the page. */
async function keep(page: Page, name: string, height: number): Promise<void> {
  const picture = await page.screenshot({ clip: { x: 0, y: 0, width, height } });
  if (picture.length > mostBytes) throw new Error(`${name}.png has ${picture.length} bytes. Show less.`);
  writeFileSync(`${folder}${name}.png`, picture);
  process.stdout.write(`${name}.png, ${picture.length} bytes\n`);
}
