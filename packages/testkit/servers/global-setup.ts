/** Before and after all test files of `npm test`: the one Postgres server on which they make databases. */
import { openLifetime } from '../fixtures/lifetime.ts';
import { startPostgres, withoutOwnServers } from './postgres-start.ts';

const wholeRun = openLifetime();

/** What stands in the environment here is inherited by the process of each test file. */
export async function globalSetup(): Promise<void> {
  if (process.env.TEST_DATABASE_URL || withoutOwnServers()) return;
  const server = await startPostgres(wholeRun);
  process.env.TEST_DATABASE_URL = server.url();
}

export async function globalTeardown(): Promise<void> {
  await wholeRun[Symbol.asyncDispose]();
}
