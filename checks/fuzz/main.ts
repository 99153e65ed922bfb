/** `npm run check -- fuzz`: sends random inputs to the service until a promise breaks or time is up. */

import { oneOf, optional, Problem, wholeNumber } from '../../packages/common/src/command-line/options.ts';
import { openLifetime } from '../../packages/testkit/fixtures/lifetime.ts';
import { isStopped, print, runProgram, wholeRun, withDefault } from '../lib/program.ts';
import { admin } from './admin.ts';
import { http } from './http.ts';
import type { Target } from './run.ts';
import { type Failure, largestSeed, type Outcome, runTarget } from './run.ts';

const targets: readonly Target[] = [http, admin];
const largestSeconds = 7 * 24 * 3_600;

const about = `
Sends random inputs, made from a seed, to parts of the service, and checks each result. Ends with status 1
at the first input that breaks a promise, and prints the smallest input that does, with the command to
repeat it.

${targets.map(({ name, promise }) => `  ${name.padEnd(12)}${promise}`).join('\n')}`;

interface Flags {
  readonly chosen: readonly Target[];
  readonly seed: number;
  readonly seconds: number;
  readonly runs: number | undefined;
  readonly path: string | undefined;
}

const pathIn = (text: string) =>
  /^\d+(:\d+)*$/.test(text) ? text : new Problem('must be numbers like 12:0:3.');

function figuresOf({ inputs, elapsedMs }: Outcome): string {
  const aSecond = Math.round(inputs / (elapsedMs / 1_000));
  return `${inputs.toLocaleString('en')} inputs, ${aSecond.toLocaleString('en')} a second`;
}

async function fuzz(target: Target, { seed, seconds, runs, path }: Flags): Promise<Outcome> {
  await using lifetime = openLifetime();
  wholeRun.after(() => lifetime[Symbol.asyncDispose]());
  const outcome = await runTarget(target, lifetime, {
    seed,
    path,
    ...(runs === undefined ? { untilMs: performance.now() + seconds * 1_000 } : { runs }),
  });
  if (isStopped()) return outcome;
  print(
    `${target.name}: ${figuresOf(outcome)}, seed ${seed}: ${outcome.failure ? 'broken' : 'nothing found'}`,
  );
  return outcome;
}

function report(target: Target, { seed, path, input, reason }: Failure): void {
  const again = path === undefined ? `--runs ${target.batchRuns}` : `--path ${path}`;
  print(`\nBroken promise: ${target.promise}.`);
  print(`Reason: ${reason}`);
  print(`The smallest input found: ${input}`);
  print(`Repeat it: npm run check -- fuzz --target ${target.name} --seed ${seed} ${again}`);
}

async function fuzzAll(flags: Flags): Promise<boolean> {
  for (const target of flags.chosen) {
    const { failure } = await fuzz(target, flags);
    if (isStopped()) return false;
    if (failure === undefined) continue;
    report(target, failure);
    return false;
  }
  return true;
}

await runProgram({
  usage: 'npm run check -- fuzz',
  about,
  options: {
    target: withDefault(
      'NAME',
      oneOf(['all', ...targets.map(({ name }) => name)]),
      'all',
      'only this target',
    ),
    seconds: withDefault('S', wholeNumber(1, largestSeconds), 60, 'time for each target'),
    runs: optional('N', wholeNumber(1, largestSeed), 'number of inputs for each target, instead of a time'),
    seed: optional('N', wholeNumber(0, largestSeed), 'the same seed makes the same inputs (random)'),
    path: optional('P', pathIn, 'with --target and --seed: repeats the input of one failure'),
  },
  conflicts: ({ path, target, seed }) =>
    path !== undefined && (target === 'all' || seed === undefined)
      ? ['--path needs --target and --seed.']
      : [],
  run: ({ target, seed = Math.floor(Math.random() * largestSeed), ...flags }) =>
    fuzzAll({ ...flags, seed, chosen: targets.filter(({ name }) => ['all', name].includes(target)) }),
});
