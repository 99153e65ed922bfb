/** Runs a development program (bench, chaos, fuzz, scripts): flags, help, exit status and cleaning up. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { helpColumns, helpOf } from '../../packages/common/src/command-line/help.ts';
import {
  type Option,
  type Options,
  optional,
  type Problem,
  type Values,
} from '../../packages/common/src/command-line/options.ts';
import { parseLine, type Syntax } from '../../packages/common/src/command-line/parse.ts';
import { openLifetime } from '../../packages/testkit/fixtures/lifetime.ts';

/** Everything that is registered here is removed when the program ends or is stopped. */
export const wholeRun = openLifetime();

/** A clean-up that hangs is given up after this time. */
const cleanUpMs = 20_000;
const checkParentMs = 500;

let cleaning: Promise<void> | undefined;
let isStopping = false;

/** Runs once, even if a signal arrives while it is running. */
function cleanUp(): Promise<void> {
  cleaning ??= wholeRun[Symbol.asyncDispose]();
  return cleaning;
}

/** After a stop, failures are expected: the servers are being removed. */
export const isStopped = () => isStopping;

/** Writes progress and remarks to standard error. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Writes results to standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

interface Program<O extends Options> extends Syntax<O> {
  /** The command that starts it, such as "npm run check -- chaos". */
  readonly usage: string;
  /** What it does, for --help. */
  readonly about: string;
  /** What this machine lacks to run it, in a sentence. */
  missing?(flags: Values<O>): string | false;
  /** Resolves to whether all goals and promises were met. */
  run(flags: Values<O>): Promise<boolean>;
}

/** An option with a default value, which its help shows. */
export function withDefault<T>(
  valueName: string,
  read: (text: string) => T | Problem,
  value: T,
  help: string,
): Option<T> {
  const shown = typeof value === 'number' ? value.toLocaleString('en') : value;
  const option = optional(valueName, read, `${help} (${shown})`);
  return { ...option, resolve: (...given) => option.resolve(...given) ?? value };
}

/** Exit status: 0 if everything is as it should be, 1 if not or on a failure, 2 for invalid flags. */
export async function runProgram<O extends Options>(program: Program<O>): Promise<void> {
  const words = process.argv.slice(2);
  if (words.includes('--help')) {
    return print(helpOf(program.usage, reflowed(program.about), program, helpColumns(process.stdout)));
  }
  const { values: flags, problems } = parseLine(program, words);
  process.exitCode = problems.length > 0 ? 2 : 1;
  for (const problem of problems) say(problem);
  if (problems.length > 0) return;
  const lack = program.missing?.(flags);
  if (lack) return say(lack);
  cleanUpWhenStopped();
  try {
    if (await program.run(flags)) process.exitCode = 0;
  } finally {
    // A pending signal may be why the run ended: let its handler run first.
    await nextTurn();
    await cleanUp();
  }
}

/** Joins the lines of each paragraph. Indented lines, as of a table, stay. */
function reflowed(text: string): string {
  return text.trim().replaceAll(/^(\S.*)\n(?=\S)/gm, '$1 ');
}

/** A signal can arrive twice: from the terminal, which signals every process, and forwarded by npm. */
function cleanUpWhenStopped(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  // A signal to npm alone ends the shell between npm and this process, without a signal to this process.
  const { ppid } = process;
  const isStartedByNpm = process.env.npm_lifecycle_event !== undefined;
  if (isStartedByNpm) setInterval(() => process.ppid !== ppid && stop(), checkParentMs).unref();
}

function stop(): void {
  if (isStopping) return;
  isStopping = true;
  say('Stopped: cleaning up.');
  process.on('uncaughtException', () => {});
  setTimeout(() => process.exit(1), cleanUpMs);
  cleanUp().finally(() => process.exit(1));
}
