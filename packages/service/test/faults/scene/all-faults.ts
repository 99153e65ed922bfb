import { type TestContext, test } from 'node:test';
import { isLongRun, longRunOnly } from '../../../../testkit/fixtures/long-run.ts';
import { withoutOwnServers } from '../../../../testkit/servers/postgres.ts';

type Work = (t: TestContext) => Promise<void>;

/** A test with Postgres servers of its own. */
export function faultTest(name: string, work: Work, skip: string | false = false): void {
  test(name, { skip: withoutOwnServers() || skip, timeout: isLongRun ? 120_000 : 60_000 }, work);
}

/** `npm test` tries a few faults, because all of them take more than five minutes. */
export function rareFaultTest(name: string, work: Work): void {
  faultTest(name, work, longRunOnly);
}
