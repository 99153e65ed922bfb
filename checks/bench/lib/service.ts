/** Services for benches: each service is a real `serve` in its own process. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { type Served, serve } from '../../../packages/testkit/fixtures/run.ts';
import { wholeRun } from '../../lib/program.ts';

export const engines = ['sqlite', 'postgres'] as const;
export type Engine = (typeof engines)[number];

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
