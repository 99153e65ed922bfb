import { join } from 'node:path';

/** The installed package that the tests run, or undefined if they run the checkout. */
export function testedPackage(): string | undefined {
  const folder = process.env.TEST_PACKAGE;
  return folder === undefined ? undefined : join(folder, 'node_modules/partner-network');
}
