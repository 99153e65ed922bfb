/** `npm run fuzz`: tries the service on input after input until something breaks or time is up. */
import { parseArgs } from 'node:util';
import { openLifetime } from '../packages/server/test/support/lifetime.ts';
import { cursors } from './cursors.ts';
import { http } from './http.ts';
import { imports } from './import.ts';
import { parameters } from './parameters.ts';
import { type Failure, largestSeed, type Outcome, runTarget, seedAfter } from './run.ts';
import type { Target } from './target.ts';

const targets: readonly Target[] = [parameters, cursors, http, imports];
const defaultSeconds = 60;

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

function readFlags(words: string[]): Flags | 'help' {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: words,
    options: { target: text, seconds: text, runs: text, seed: text, path: text, help: { type: 'boolean' } },
  });
  if (values.help) return 'help';
  const { target = 'all', path } = values;
  const chosen = targets.filter(({ name }) => target === 'all' || target === name);
  if (chosen.length === 0) throw new Error(`--target is all, ${targets.map(({ name }) => name).join(', ')}.`);
  const seed = wholeNumber('seed', values.seed) ?? Math.floor(Math.random() * largestSeed);
  if (path !== undefined && (chosen.length > 1 || values.seed === undefined))
    throw new Error('--path is of one --target and --seed.');
  const runs = wholeNumber('runs', values.runs);
  return { chosen, seed, path, runs, seconds: wholeNumber('seconds', values.seconds) ?? defaultSeconds };
}

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,10}$/.test(text) || Number(text) > largestSeed)
    throw new Error(`--${flag} is a whole number, up to ${largestSeed}.`);
  return Number(text);
}

function figuresOf({ executions, elapsedMs }: Outcome): string {
  const aSecond = Math.round(executions / (elapsedMs / 1_000));
  return `${executions.toLocaleString('en')} executions, ${aSecond.toLocaleString('en')} a second`;
}

const print = (line: string) => process.stdout.write(`${line}\n`);

async function fuzz(target: Target, seed: number, flags: Flags, forMs: number): Promise<Outcome> {
  await using lifetime = openLifetime();
  const { isTTY } = process.stderr;
  const outcome = await runTarget(target, lifetime, {
    seed,
    path: flags.path,
    ...(flags.runs === undefined ? { untilMs: performance.now() + forMs } : { runs: flags.runs }),
    onProgress: (so) =>
      isTTY && process.stderr.write(`\r\u001b[K${target.name}: ${figuresOf(so)}, seed ${seed}`),
  });
  if (isTTY) process.stderr.write('\r\u001b[K');
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

async function main(): Promise<number> {
  const flags = readFlags(process.argv.slice(2));
  if (flags === 'help') {
    print(help);
    return 0;
  }
  const isEndless = flags.seconds === 0 && flags.runs === undefined && flags.path === undefined;
  // A turn has seeds that no turn before it had: a batch takes one, and no turn has as many batches.
  for (let turn = 0; turn === 0 || isEndless; turn += 1) {
    const seed = seedAfter(flags.seed, turn * 1_000_000);
    for (const target of flags.chosen) {
      const { failure } = await fuzz(target, seed, flags, (flags.seconds || defaultSeconds) * 1_000);
      if (failure === undefined) continue;
      tell(target, failure, target.batchRuns);
      return 1;
    }
  }
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 2;
}
