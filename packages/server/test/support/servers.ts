/** Before and after all test files of `npm test`: the one Postgres server on which they make databases. */
import { type Lifetime, startPostgres, withoutOwnServers } from './postgres-start.ts';

const endings: (() => Promise<void> | void)[] = [];
const wholeRun: Lifetime = { after: (work) => endings.push(work) };

/** What stands in the environment here is inherited by the process of each test file. */
export async function globalSetup(): Promise<void> {
  if (process.env.TEST_DATABASE_URL || withoutOwnServers()) return;
  const server = await startPostgres(wholeRun);
  process.env.TEST_DATABASE_URL = server.url();
}

export async function globalTeardown(): Promise<void> {
  while (endings.length > 0) await endings.pop()!();
}
