/** A real browser for tests: the Chromium at the path CHROMIUM, or the machine's. */
import type { Browser } from 'playwright-core';
import { programsOnPath } from './programs.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome'];
const program = process.env.CHROMIUM || programsOnPath(names)[0];
const howToGetOne = 'needs Chromium (apt-get install chromium), or its path in CHROMIUM';

/** Options of a test with a browser: it is skipped if Chromium is not installed. */
export const needsChromium = { timeout: 120_000, skip: program === undefined && howToGetOne };

export async function launchChromium(): Promise<Browser> {
  if (program === undefined) throw new Error(howToGetOne);
  // Loaded here, so that skipped tests do not load it.
  const { chromium } = await import('playwright-core');
  return await chromium.launch({
    executablePath: program,
    // Chromium's sandbox does not work as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      // No host but this machine can be reached.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
      // The address bar is a separate page, takes a second to load and is never shown.
      '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup',
    ],
  });
}
