/** Runs the real executable as an operator does: its own process, a clean environment, real streams. */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Environment } from '@partner-network/contract/environments';
import type { Store } from '../../src/store/port.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { createdAt } from './fixture.ts';
import { temporaryFolder } from './folder.ts';
import type { Lifetime } from './lifetime.ts';
import { watchCommand } from './watch-logs.ts';

export const executable = fileURLToPath(new URL('../../bin/partner-network.js', import.meta.url));

/**
 * What Node compiled for one process serves the next: 60 ms instead of 150 for each of some two hundred. A
 * whole run has one for all its files.
 */
const compileCache = process.env.NODE_COMPILE_CACHE ?? temporaryCache();

function temporaryCache(): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-compiled-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Surroundings {
  readonly variables?: Readonly<Record<string, string>>;
  readonly folder?: string;
  /** What stands on standard input. */
  readonly input?: string | Uint8Array;
  /** Open files that standard output and standard error go to; pipes to the test otherwise. */
  readonly stdout?: number;
  readonly stderr?: number;
}

export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a command; the caller ends it. */
export function spawnCommand(
  words: readonly string[],
  { variables = {}, folder, stdout, stderr }: Surroundings = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [executable, ...words], {
    env: { NODE_COMPILE_CACHE: compileCache, ...variables },
    cwd: folder,
    stdio: ['pipe', stdout ?? 'pipe', stderr ?? 'pipe'],
  }) as ChildProcessWithoutNullStreams;
  watchCommand(child, [...words, ...Object.values(variables)]);
  return child;
}

/** Runs a command to its end. */
export async function run(words: readonly string[], surroundings: Surroundings = {}): Promise<Finished> {
  const child = spawnCommand(words, surroundings);
  const texts = collect(child);
  // A command that fails before it reads closes the pipe, which is not what a test is about.
  child.stdin.on('error', () => {});
  child.stdin.end(surroundings.input ?? '');
  const [status] = await once(child, 'close');
  return { status, ...texts() };
}

function collect(child: ChildProcessWithoutNullStreams): () => { stdout: string; stderr: string } {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  return () => texts;
}

export interface CommandLine {
  readonly folder: string;
  readonly database: string;
  readonly databasePath: string;
  /** Runs a command on this database. */
  run(words: readonly string[], surroundings?: Surroundings): Promise<Finished>;
  /** Runs a command that must succeed, with --json, and gives what standard output holds. */
  json<Answer>(...words: string[]): Promise<Answer>;
  /** Opens the database in this process, to prepare it or to look at what a command did. */
  inside<Result>(work: (store: Store) => Promise<Result>, environment?: Environment): Promise<Result>;
}

/** A command line with a database of its own, which is gone after the test. */
export function commandLine(t: Lifetime): CommandLine {
  const folder = temporaryFolder(t);
  const databasePath = join(folder, 'test.db');
  const database = `sqlite:${databasePath}`;
  const runHere = (words: readonly string[], surroundings?: Surroundings) =>
    run([...words, '--database', database], surroundings);
  return {
    folder,
    database,
    databasePath,
    run: runHere,
    json: async (...words) => {
      const { status, stdout, stderr } = await runHere([...words, '--json']);
      assert.equal(status, 0, stderr);
      return JSON.parse(stdout);
    },
    inside: async (work, environment = 'production') => {
      const store = openSqlite(databasePath, environment, 'create');
      try {
        return await work(store);
      } finally {
        await store.close();
      }
    },
  };
}

/** A command line whose database has these partners. */
export async function withPartners(
  t: TestContext,
  ids: readonly string[],
  environment?: Environment,
): Promise<CommandLine> {
  const line = commandLine(t);
  await line.inside(async (store) => {
    for (const id of ids) await store.createPartner({ id, name: id, created_at: createdAt });
  }, environment);
  return line;
}

/** Ended with this status, nothing on standard output, and each of these on standard error. */
export function assertFailed(
  { status, stdout, stderr }: Finished,
  expected: number,
  ...said: RegExp[]
): void {
  assert.deepEqual({ status, stdout }, { status: expected, stdout: '' }, stderr);
  for (const pattern of said) assert.match(stderr, pattern);
  assert.doesNotMatch(stderr, /\n\s+at /, 'a stack trace is not for operators');
}

export interface Running {
  readonly pid: number;
  /** Resolves to the first match in what it prints. */
  says(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  /** Resolves to the exit status, null when a signal killed it. */
  readonly ended: Promise<number | null>;
  texts(): { readonly stdout: string; readonly stderr: string };
}

/** Starts a command that goes on until it is told to stop; a test that forgets does not leave it behind. */
export function start(t: Lifetime, words: readonly string[], surroundings?: Surroundings): Running {
  const child = spawnCommand(words, surroundings);
  const texts = collect(child);
  const ended = once(child, 'close').then(([status]) => status as number | null);
  t.after(async () => {
    if (child.exitCode === null) child.kill('SIGKILL');
    await ended;
  });
  return {
    pid: child.pid!,
    says: (stream, pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(texts()[stream]);
          if (match !== null) resolve(match);
        };
        child[stream].on('data', look);
        child.once('close', () => reject(new Error(`it ended without a word: ${texts().stderr}`)));
        look();
      }),
    signal: (name) => child.kill(name),
    ended,
    texts,
  };
}
