/** Random faults of all parts under load, and every answer held against the data. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runBench, say, wholeRun } from '../bench/program.ts';
import { openLifetime } from '../packages/server/test/support/lifetime.ts';
import { withoutOwnServers } from '../packages/server/test/support/postgres-start.ts';
import { needsOwnRedis } from '../packages/server/test/support/redis.ts';
import { lackOfBalancer } from './balancer.ts';
import { judge } from './judge.ts';
import { describe, planOf, quietEndMs, quietStartMs } from './plan.ts';
import { faultsTable, stallsText, verdictsText } from './report.ts';
import { runCourse } from './run.ts';

const help = `Usage: npm run chaos -- [FLAGS]

Starts Postgres with a standby, Redis, two instances and HAProxy, applies load with the client while others
write, and kills, freezes, restarts and cuts off parts at random, by the seed. Then it holds every answer
against the data: nothing lost, nothing twice in a walk, nothing of another partner, never more than the rate.
Ends with status 1 when a promise is broken, and says where the answers and logs are.

  --seed N        decides what fails, when and for how long; by chance unless given
  --seeds A-B     one run after the other, with each of these seeds
  --minutes M     how long a run takes, 2 unless given; more than half a minute
  --keep          keep answers and logs also when all is well
  --plan          print the faults of each run, and do nothing
  --help          this text`;

interface Flags {
  readonly seeds: readonly number[];
  readonly minutes: number;
  readonly isKept: boolean;
  readonly isPlanOnly: boolean;
}

function readFlags(words: string[]): Flags | 'help' {
  const { values } = parseArgs({
    args: words,
    options: {
      seed: { type: 'string' },
      seeds: { type: 'string' },
      minutes: { type: 'string', default: '2' },
      keep: { type: 'boolean', default: false },
      plan: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const minutes = Number(values.minutes);
  const shortest = (quietStartMs + quietEndMs) / 60_000;
  if (!(minutes > shortest && minutes <= 600)) {
    throw new Error(`--minutes must be a number above ${shortest.toFixed(2)}, and at most 600.`);
  }
  return { seeds: seedsOf(values), minutes, isKept: values.keep, isPlanOnly: values.plan };
}

function seedsOf({ seed, seeds }: { seed?: string; seeds?: string }): number[] {
  if (seed !== undefined && seeds !== undefined) throw new Error('Give --seed or --seeds, not both.');
  const given = seeds ?? seed ?? String(Math.floor(Math.random() * 1_000_000));
  const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(given) ?? [];
  if (first === undefined || Number(last) < Number(first) || (seed !== undefined && seed !== first)) {
    throw new Error('--seed must be a whole number, and --seeds two of them like 1-10.');
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
  const played = await runCourse(lifetime, folder, seed, minutes, plan, say);
  const logs = readdirSync(folder)
    .filter((name) => name.startsWith('instance-'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'));
  const course = { ...played, logs };
  const verdicts = judge(course);
  const isKeptPromise = verdicts.every(({ violations }) => violations.length === 0);
  const judged = verdictsText(verdicts, course.startedMs);
  const text = `${faultsTable(course)}\n\n${stallsText(course)}${judged}\n`;
  process.stdout.write(`\nSeed ${seed}\n\n${text}\n`);
  writeFileSync(join(folder, 'verdict.txt'), text);
  await lifetime[Symbol.asyncDispose]();
  if (isKeptPromise && !isKept) rmSync(folder, { recursive: true });
  else say(`Seed ${seed}: answers and logs are in ${folder}.`);
  return isKeptPromise;
}

async function runAll(flags: Flags): Promise<boolean> {
  const { seeds, minutes, isPlanOnly } = flags;
  if (isPlanOnly) {
    for (const seed of seeds) process.stdout.write(`${planText(seed, minutes)}\n`);
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

await runBench({
  help,
  readFlags,
  lackFor: ({ isPlanOnly }) => !isPlanOnly && (withoutOwnServers() || needsOwnRedis.skip || lackOfBalancer),
  measure: runAll,
});
