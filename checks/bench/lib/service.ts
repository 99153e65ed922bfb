/** Databases and services for benches: each service is a real `serve` in its own process. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '../../../packages/testkit/fixtures/folder.ts';
import { type Served, serve } from '../../../packages/testkit/fixtures/run.ts';
import { startPostgres, withoutOwnServers } from '../../../packages/testkit/servers/postgres-start.ts';
import { wholeRun } from '../../lib/program.ts';

export const engines = ['sqlite', 'postgres'] as const;
export type Engine = (typeof engines)[number];

export function missingFor({ engine }: { readonly engine: Engine }): string | false {
  return engine === 'postgres' && withoutOwnServers();
}

/** The address of a new database. For Postgres, a new server is started. */
export async function newDatabase(engine: Engine): Promise<string> {
  if (engine === 'postgres') return (await startPostgres(wholeRun)).url();
  return `sqlite:${join(temporaryFolder(wholeRun), 'bench.db')}`;
}

/** As in deploy/partner-network.service. */
const variables = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '65536' };

/** Starts `serve` with its log in a file: reading it here would take CPU time from the measurement. */
export async function startService(
  database: string,
  flags: readonly string[] = [],
  logFile = devNull,
): Promise<Served> {
  const stdout = openSync(logFile, 'a');
  const service = await serve(wholeRun, ['--database', database, ...flags], { stdout, variables });
  closeSync(stdout);
  return service;
}
