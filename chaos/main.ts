/** Random faults of all parts under load, and every answer held against the data. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Given } from '../bench/lib/flags.ts';
import { isStopped, print, runProgram, say, wholeRun } from '../bench/lib/program.ts';
import { openLifetime } from '../packages/testkit/fixtures/lifetime.ts';
import { withoutHaproxy } from '../packages/testkit/servers/haproxy.ts';
import { withoutOwnServers } from '../packages/testkit/servers/postgres-start.ts';
import { needsOwnRedis } from '../packages/testkit/servers/redis.ts';
import { judge } from './judge/judge.ts';
import { describe, planOf, quietEndMs, quietStartMs } from './plan.ts';
import { faultsTable, stallsText, verdictsText } from './report.ts';
import { runCourse } from './run.ts';

const largestSeed = 999_999_999;
const shortestMinutes = (quietStartMs + quietEndMs) / 60_000;

const help = `Usage: npm run chaos -- [FLAGS]

Starts Postgres with a standby, Redis, two instances and HAProxy, applies load with the client while others
write, and kills, freezes, restarts and cuts off parts at random, by the seed. Then it holds every answer
against the data: nothing lost, nothing twice in a walk, nothing of another partner, never more than the rate.
Ends with status 1 when a promise is broken, and says where the answers and logs are.

  --seed N        decides what fails, when and for how long; by chance unless given
  --seeds A-B     one run after the other, with each of these seeds
  --minutes M     how long a run takes, 2 unless given; more than ${shortestMinutes.toFixed(2)}
  --keep          keep answers and logs also when all is well
  --plan          print the faults of each run, and do nothing
  --help          this text`;

interface Flags {
  readonly seeds: readonly number[];
  readonly minutes: number;
  readonly isKept: boolean;
  readonly isPlanOnly: boolean;
}

function readFlags(given: Given<'seed' | 'seeds' | 'minutes' | 'keep' | 'plan'>): Flags {
  const minutes = Number(given.text('minutes') ?? '2');
  if (!(minutes > shortestMinutes && minutes <= 600))
    given.refuse(`--minutes must be a number above ${shortestMinutes.toFixed(2)}, and at most 600.`);
  return { seeds: seedsOf(given), minutes, isKept: given.has('keep'), isPlanOnly: given.has('plan') };
}

function seedsOf(given: Given<'seed' | 'seeds'>): number[] {
  if (given.has('seed') && given.has('seeds')) given.refuse('Give --seed or --seeds, not both.');
  const seed = given.wholeNumber('seed', 0, largestSeed, Math.floor(Math.random() * 1_000_000));
  const seeds = given.text('seeds');
  if (seeds === undefined) return [seed];
  const [, first, last] = /^(\d{1,9})-(\d{1,9})$/.exec(seeds) ?? [];
  if (first === undefined || Number(last) < Number(first)) {
    given.refuse('--seeds must be two whole numbers like 1-10, the smaller one first.');
    return [];
  }
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index);
}

/** Whether all promises were kept. */
async function runSeed(seed: number, { minutes, isKept }: Flags): Promise<boolean> {
  const plan = planOf(seed, minutes);
  say(`Seed ${seed}: ${plan.length} faults in ${minutes} minutes.`);
  const folder = mkdtempSync(join(tmpdir(), `partner-network-chaos-${seed}-`));
  writeFileSync(join(folder, 'plan.json'), JSON.stringify({ seed, minutes, plan }, undefined, 1));
  const lifetime = openLifetime();
  wholeRun.after(() => lifetime[Symbol.asyncDispose]());
  let isFine = false;
  lifetime.after(() => {
    if (isKept || !(isFine || isStopped())) say(`Seed ${seed}: answers and logs are in ${folder}.`);
    else rmSync(folder, { recursive: true, force: true });
  });
  const played = await runCourse(lifetime, folder, seed, minutes, plan, say);
  const logs = readdirSync(folder)
    .filter((name) => name.startsWith('instance-'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'));
  const course = { ...played, logs };
  const verdicts = judge(course);
  isFine = verdicts.every(({ violations }) => violations.length === 0);
  const judged = verdictsText(verdicts, course.startedMs);
  const text = `${faultsTable(course)}\n\n${stallsText(course)}${judged}\n`;
  print(`\nSeed ${seed}\n\n${text}`);
  writeFileSync(join(folder, 'verdict.txt'), text);
  await lifetime[Symbol.asyncDispose]();
  return isFine;
}

async function runAll(flags: Flags): Promise<boolean> {
  const { seeds, minutes, isPlanOnly } = flags;
  if (isPlanOnly) {
    for (const seed of seeds) print(planText(seed, minutes));
    return true;
  }
  const tried = seeds.length === 1 ? `seed ${seeds[0]}` : `all ${seeds.length} seeds`;
  const broken: number[] = [];
  for (const seed of seeds) if (!(await runSeed(seed, flags))) broken.push(seed);
  say(
    broken.length === 0
      ? `All promises were kept, with ${tried}.`
      : `Promises were broken with seed ${broken.join(', ')}: ${broken.length} of ${seeds.length}.`,
  );
  return broken.length === 0;
}

function planText(seed: number, minutes: number): string {
  return [`Seed ${seed}`, ...planOf(seed, minutes).map(describe)].join('\n');
}

await runProgram({
  help,
  options: { seed: 'value', seeds: 'value', minutes: 'value', keep: 'switch', plan: 'switch' },
  readFlags,
  lackFor: ({ isPlanOnly }) => !isPlanOnly && (withoutOwnServers() || needsOwnRedis.skip || withoutHaproxy),
  run: runAll,
});
