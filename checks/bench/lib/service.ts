/** Databases, services and other programs for benches. All end with the bench. */
import { execFile } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../../packages/testkit/fixtures/lifetime.ts';
import { executable, type Served, serve } from '../../../packages/testkit/fixtures/run.ts';
import { type Settings, startPostgres } from '../../../packages/testkit/servers/postgres-start.ts';
import { wholeRun } from '../../lib/program.ts';

export const engines = ['sqlite', 'postgres'] as const;
export type Engine = (typeof engines)[number];

/** A database, and the process of its server. SQLite has none. */
export interface Database {
  readonly url: string;
  readonly pid: number | undefined;
}

export async function newDatabase(engine: Engine, settings?: Settings): Promise<Database> {
  if (engine === 'sqlite') {
    return { url: `sqlite:${join(temporaryFolder(wholeRun), 'bench.db')}`, pid: undefined };
  }
  const server = await startPostgres(wholeRun, settings);
  return { url: server.url(), pid: server.pid() };
}

/** As in deploy/partner-network.service. */
const variables = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '65536' };

/**
 * Starts `serve` with its log in a file: reading it here would take CPU time from the measurement. `program`
 * is its executable, by default that of this checkout.
 */
export async function startService(
  database: string,
  flags: readonly string[] = [],
  logFile = devNull,
  program = executable,
): Promise<Served> {
  const stdout = openSync(logFile, 'a');
  const surroundings = { stdout, variables, program };
  const service = await serve(wholeRun, ['--database', database, ...flags], surroundings);
  closeSync(stdout);
  return service;
}

/** Runs a program to its end and resolves to its output. */
export async function outputOf(program: string, words: readonly string[], variables = {}): Promise<string> {
  const stop = new AbortController();
  wholeRun.after(() => stop.abort());
  const options = { env: { ...process.env, ...variables }, signal: stop.signal };
  return (await promisify(execFile)(program, words, options)).stdout;
}
