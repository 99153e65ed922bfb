/** `npm run check -- fuzz`: sends random inputs to the service until a promise breaks or time is up. */
import { oneOf, optional, Problem, wholeNumber } from '../../packages/common/src/command-line/options.ts';
import { isStopped, print, runProgram, wholeRun, withDefault } from '../lib/program.ts';
import { admin } from './admin.ts';
import { http } from './http.ts';
import { largestSeed, runTarget, type Target } from './run.ts';

const targets: readonly Target[] = [http, admin];

const about = `
Sends random inputs, made from a seed, to parts of the service, and checks each result. Ends with status 1
at the first input that breaks a promise, and prints the smallest input that does, with its seed and path:
"--target NAME --seed N --path P" repeats it.

${targets.map(({ name, promise }) => `  ${name.padEnd(12)}${promise}`).join('\n')}`;

const pathIn = (text: string) =>
  /^\d+(:\d+)*$/.test(text) ? text : new Problem('must be numbers like 12:0:3.');

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
    seconds: withDefault('S', wholeNumber(1, 7 * 24 * 3_600), 60, 'time for each target'),
    seed: optional('N', wholeNumber(0, largestSeed), 'the same seed makes the same inputs (random)'),
    path: optional('P', pathIn, 'with --target and --seed: repeats the input of one failure'),
  },
  conflicts: ({ path, target, seed }) =>
    path !== undefined && (target === 'all' || seed === undefined)
      ? ['--path needs --target and --seed.']
      : [],
  run: async ({ target, seconds, path, seed = Math.floor(Math.random() * largestSeed) }) => {
    for (const each of targets.filter(({ name }) => ['all', name].includes(target))) {
      try {
        const untilMs = performance.now() + seconds * 1_000;
        const inputs = await runTarget(each, wholeRun, { seed, untilMs, path });
        print(`${each.name}: ${inputs.toLocaleString('en')} inputs, seed ${seed}: nothing found`);
      } catch (error) {
        const { message, cause } = error as Error;
        if (!isStopped()) print(`Broken promise: ${each.promise}.\n${message}\nReason: ${cause}`);
        return false;
      }
    }
    return true;
  },
});
