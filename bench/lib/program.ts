/** How benches, scripts, fault runs and fuzzers begin and end, and that they leave nothing behind. */
import { setImmediate as turn } from 'node:timers/promises';
import { openLifetime } from '../../packages/testkit/fixtures/lifetime.ts';
import { type Given, type Options, readWords } from './flags.ts';

export const wholeRun = openLifetime();

/** Were something to hang, it should not be for ever. */
const mostCleaningMs = 20_000;
const parentEveryMs = 500;

let cleaning: Promise<void> | undefined;
let isStopping = false;

/** Last things first, and once, though a signal may come when it has begun. */
function cleanUp(): Promise<void> {
  cleaning ??= wholeRun[Symbol.asyncDispose]();
  return cleaning;
}

/** Whether it was told to stop: what fails from then on fails because all is being taken away. */
export const isStopped = () => isStopping;

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

interface Program<Name extends string, Flags> {
  readonly help: string;
  readonly options: Options<Name>;
  /** Notes what is wrong with them. */
  readFlags(given: Given<Name>): Flags;
  /** What it needs and this machine does not have. */
  lackFor?(flags: Flags): string | false;
  /** Whether all is as it should be. */
  run(flags: Flags): Promise<boolean>;
}

/**
 * Runs it by this process's words, and sets the exit status: 0 where all is as it should be, 1 where it is
 * not, or could not be found out, and 2 for words that it does not take.
 */
export async function runProgram<Name extends string, Flags>(program: Program<Name, Flags>): Promise<void> {
  const { help, options, readFlags, lackFor } = program;
  const { flags, isHelp, problems } = readWords(process.argv.slice(2), options, readFlags);
  if (isHelp) return print(help);
  for (const problem of problems) say(problem);
  const lack = problems.length === 0 && lackFor?.(flags);
  if (lack) say(lack);
  process.exitCode = problems.length > 0 ? 2 : 1;
  if (problems.length > 0 || lack) return;
  cleanUpWhenTold();
  try {
    if (await program.run(flags)) process.exitCode = 0;
  } finally {
    // A signal may have ended what was waited for; it is heard first.
    await turn();
    await cleanUp();
  }
}

/**
 * More than one signal may come: npm hands on to us what the terminal has sent to us already. Were the second
 * one not waited out, it would end us amid the cleaning.
 */
function cleanUpWhenTold(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  // One that npm alone gets ends the shell between it and us, and nobody tells us.
  const { ppid } = process;
  const isOfNpm = process.env.npm_lifecycle_event !== undefined;
  if (isOfNpm) setInterval(() => process.ppid !== ppid && stop(), parentEveryMs).unref();
}

function stop(): void {
  if (isStopping) return;
  isStopping = true;
  say('Stopped: cleaning up.');
  process.on('uncaughtException', () => {});
  setTimeout(() => process.exit(1), mostCleaningMs);
  cleanUp().finally(() => process.exit(1));
}
