/** A real browser for tests: the machine's own Chromium, or the one at CHROMIUM. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Browser } from 'playwright-core';

const program = process.env.CHROMIUM || findProgram();

/** What a test that needs a browser is declared with; without one it is skipped, and says so. */
export const needsChromium = {
  timeout: 120_000,
  skip: program === undefined && 'needs Chromium (apt-get install chromium), or its path in CHROMIUM',
};

export async function launchChromium(t: TestContext): Promise<Browser> {
  // Loaded here, so that a test that is skipped does not wait for it.
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({
    executablePath: program!,
    // Root has no sandbox to run it in.
    chromiumSandbox: process.getuid?.() !== 0,
    // Whatever it would ask of another host, it finds nobody there.
    args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });
  t.after(() => browser.close());
  return browser;
}

function findProgram(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
