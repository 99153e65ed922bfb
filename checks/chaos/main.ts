/** Random faults of all parts under load. Every answer is compared with the data. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flag, optional, Problem, wholeNumber } from '../../packages/common/src/command-line/options.ts';
import { withoutHaproxy } from '../../packages/testkit/servers/haproxy.ts';
import { withoutOwnServers } from '../../packages/testkit/servers/postgres-start.ts';
import { needsOwnRedis } from '../../packages/testkit/servers/redis.ts';
import { isStopped, print, runProgram, say, wholeRun, withDefault } from '../lib/program.ts';
import { judge } from './judge/judge.ts';
import { describe, planOf, quietEndMs, quietStartMs } from './plan.ts';
import { reportOf } from './report.ts';
import { runPlan } from './run.ts';

const shortestMinutes = (quietStartMs + quietEndMs) / 60_000;

const about = `
Starts Postgres with a standby, Redis, two instances and HAProxy, and applies load with the client while
other processes write. Kills, freezes, restarts and cuts off parts at random, decided by the seed. Then
compares every answer with the data: no lost write, no repeated record in a walk, no record of another
partner, no page after a revocation, never above the rate. Ends with status 1 if a promise is broken, and
prints the folder of answers and logs.`;

function minutesIn(text: string): number | Problem {
  const minutes = Number(text);
  const isValid = minutes > shortestMinutes && minutes <= 600;
  return isValid
    ? minutes
    : new Problem(`must be a number above ${shortestMinutes.toFixed(2)}, and at most 600.`);
}

/** Resolves to whether all promises were kept. */
async function runSeed(seed: number, minutes: number, keepsFiles: boolean): Promise<boolean> {
  const plan = planOf(seed, minutes);
  say(`Seed ${seed}: ${plan.length} faults in ${minutes} minutes.`);
  const folder = mkdtempSync(join(tmpdir(), `partner-network-chaos-${seed}-`));
  writeFileSync(join(folder, 'plan.json'), JSON.stringify({ seed, minutes, plan }, undefined, 1));
  let areKept = false;
  wholeRun.after(() => {
    if (keepsFiles || !(areKept || isStopped())) say(`Seed ${seed}: answers and logs are in ${folder}.`);
    else rmSync(folder, { recursive: true, force: true });
  });
  const run = await runPlan(wholeRun, folder, seed, minutes, plan);
  const verdicts = judge(run);
  areKept = verdicts.every(({ violations }) => violations.length === 0);
  const text = reportOf(run, verdicts);
  print(`\nSeed ${seed}\n\n${text}`);
  writeFileSync(join(folder, 'verdict.txt'), text);
  return areKept;
}

await runProgram({
  usage: 'npm run check -- chaos',
  about,
  options: {
    seed: optional('N', wholeNumber(0, 999_999_999), 'decides what fails, when and for how long (random)'),
    minutes: withDefault('M', minutesIn, 2, `length of a run, more than ${shortestMinutes.toFixed(2)}`),
    keep: flag('keep answers and logs even if all promises are kept'),
    plan: flag('only print the faults of each run'),
  },
  missing: ({ plan }) => !plan && (withoutOwnServers() || needsOwnRedis.skip || withoutHaproxy),
  run: async ({ seed = Math.floor(Math.random() * 1_000_000), minutes, keep, plan }) => {
    if (!plan) return runSeed(seed, minutes, keep);
    print([`Seed ${seed}`, ...planOf(seed, minutes).map(describe)].join('\n'));
    return true;
  },
});
