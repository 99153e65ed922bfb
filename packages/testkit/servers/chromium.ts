/** A real browser for tests: the machine's own Chromium, or the one at CHROMIUM. */
import type { Browser } from 'playwright-core';
import { programsOnPath } from './programs.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome'];
const program = process.env.CHROMIUM || programsOnPath(names)[0];
const howToGetOne = 'needs Chromium (apt-get install chromium), or its path in CHROMIUM';

/** What a test that needs a browser is declared with; without one it is skipped, and says so. */
export const needsChromium = { timeout: 120_000, skip: program === undefined && howToGetOne };

export async function launchChromium(): Promise<Browser> {
  if (program === undefined) throw new Error(howToGetOne);
  // Loaded here, so that a test that is skipped does not wait for it.
  const { chromium } = await import('playwright-core');
  return await chromium.launch({
    executablePath: program,
    // Root has no sandbox to run it in.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      // Whatever it would ask of another host, it finds nobody there.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      // Its address bar is a page of its own, which takes a second to load and is never seen.
      '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup',
    ],
  });
}
