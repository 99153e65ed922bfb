/** Starts one Postgres server for all test files of `npm test`, which create their databases on it. */
import { openLifetime } from '../fixtures/lifetime.ts';
import { startPostgres, withoutOwnServers } from './postgres-start.ts';

const wholeRun = openLifetime();

/** The processes of test files inherit the environment. */
export async function globalSetup(): Promise<void> {
  if (process.env.TEST_DATABASE_URL || withoutOwnServers()) return;
  const server = await startPostgres(wholeRun);
  process.env.TEST_DATABASE_URL = server.url();
}

export async function globalTeardown(): Promise<void> {
  await wholeRun[Symbol.asyncDispose]();
}
