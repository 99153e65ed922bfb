/** `npm run fuzz`: tries the service on input after input until something breaks or time is up. */
import type { Given } from '../bench/lib/flags.ts';
import { isStopped, print, runProgram, wholeRun } from '../bench/lib/program.ts';
import { openLifetime } from '../packages/testkit/fixtures/lifetime.ts';
import { cursors } from './cursors.ts';
import { http } from './http.ts';
import { imports } from './import.ts';
import { parameters } from './parameters.ts';
import { type Failure, largestSeed, type Outcome, runTarget, seedAfter } from './run.ts';
import type { Target } from './target.ts';

const targets: readonly Target[] = [parameters, cursors, http, imports];
const defaultSeconds = 60;
const largestSeconds = 7 * 24 * 3_600;

const help = `Usage: npm run fuzz -- [FLAGS]

Sends inputs that are made at random from a seed to parts of the service, and holds what comes of each
against what was promised. Ends with status 1 at the first one that breaks a promise, and prints it, made as
small as it goes, with the command that tries it again.

${targets.map(({ name, promise }) => `  ${name.padEnd(12)}${promise}`).join('\n')}

  --target NAME  one of these, or all (the default), one after the other
  --seconds S    how long each is tried, ${defaultSeconds} unless given; 0: in turns until it is stopped
  --runs N       how many inputs each gets, instead of a time
  --seed N       where to begin, a number at random unless given; the same seed makes the same inputs
  --path P       with --target and --seed: the one input of a failure again
  --help         this text`;

interface Flags {
  readonly chosen: readonly Target[];
  readonly seed: number;
  readonly seconds: number;
  readonly runs: number | undefined;
  readonly path: string | undefined;
}

function readFlags(given: Given<'target' | 'seconds' | 'runs' | 'seed' | 'path'>): Flags {
  const names = ['all', ...targets.map(({ name }) => name)];
  const target = given.oneOf('target', names, 'all');
  const chosen = targets.filter(({ name }) => target === 'all' || target === name);
  const path = given.text('path');
  if (path !== undefined && (chosen.length > 1 || !given.has('seed')))
    given.refuse('--path is of one --target and --seed.');
  if (path !== undefined && !/^\d+(:\d+)*$/.test(path)) given.refuse('--path must be numbers like 12:0:3.');
  return {
    chosen,
    path,
    seed: given.wholeNumber('seed', 0, largestSeed, Math.floor(Math.random() * largestSeed)),
    runs: given.has('runs') ? given.wholeNumber('runs', 1, largestSeed, 1) : undefined,
    seconds: given.wholeNumber('seconds', 0, largestSeconds, defaultSeconds),
  };
}

function figuresOf({ executions, elapsedMs }: Outcome): string {
  const aSecond = Math.round(executions / (elapsedMs / 1_000));
  return `${executions.toLocaleString('en')} executions, ${aSecond.toLocaleString('en')} a second`;
}

async function fuzz(target: Target, seed: number, flags: Flags, forMs: number): Promise<Outcome> {
  await using lifetime = openLifetime();
  wholeRun.after(() => lifetime[Symbol.asyncDispose]());
  const { isTTY } = process.stderr;
  const outcome = await runTarget(target, lifetime, {
    seed,
    path: flags.path,
    ...(flags.runs === undefined ? { untilMs: performance.now() + forMs } : { runs: flags.runs }),
    onProgress: (so) =>
      isTTY && process.stderr.write(`\r\u001b[K${target.name}: ${figuresOf(so)}, seed ${seed}`),
  });
  if (isTTY) process.stderr.write('\r\u001b[K');
  if (isStopped()) return outcome;
  print(
    `${target.name}: ${figuresOf(outcome)}, seed ${seed}: ${outcome.failure ? 'broken' : 'nothing found'}`,
  );
  return outcome;
}

function tell(target: Target, { seed, path, input, reason }: Failure, runs: number): void {
  const again = path === undefined ? `--runs ${runs}` : `--path ${path}`;
  print(`\nThis is broken: ${target.promise}.`);
  print(`Because: ${reason}`);
  print(`The smallest input found: ${input}`);
  print(`Again: npm run fuzz -- --target ${target.name} --seed ${seed} ${again}`);
}

async function fuzzAll(flags: Flags): Promise<boolean> {
  const isEndless = flags.seconds === 0 && flags.runs === undefined && flags.path === undefined;
  // A turn has seeds that no turn before it had: a batch takes one, and no turn has as many batches.
  for (let turn = 0; turn === 0 || isEndless; turn += 1) {
    const seed = seedAfter(flags.seed, turn * 1_000_000);
    for (const target of flags.chosen) {
      const { failure } = await fuzz(target, seed, flags, (flags.seconds || defaultSeconds) * 1_000);
      if (isStopped()) return false;
      if (failure === undefined) continue;
      tell(target, failure, target.batchRuns);
      return false;
    }
  }
  return true;
}

await runProgram({
  help,
  options: { target: 'value', seconds: 'value', runs: 'value', seed: 'value', path: 'value' },
  readFlags,
  run: fuzzAll,
});
