import { type TestContext, test } from 'node:test';
import { withoutOwnServers } from '../../../../testkit/servers/postgres.ts';

/** `npm test` tries one fault of each kind, because all of them take more than five minutes. */
export const areAllTried = process.env.FAULTS !== undefined;

/** Why `npm test` skips a test, for its `skip` option. */
export const amongAllOnly = areAllTried ? false : '"npm run faults" tries it';

type Work = (t: TestContext) => Promise<void>;

/** A test with Postgres servers of its own. */
export function faultTest(name: string, work: Work, skip: string | false = false): void {
  test(name, { skip: withoutOwnServers() || skip, timeout: areAllTried ? 120_000 : 60_000 }, work);
}

/** A test that only `npm run faults` runs. */
export function rareFaultTest(name: string, work: Work): void {
  faultTest(name, work, amongAllOnly);
}
