/** One run: starts all parts, load and writers, applies the faults, and checks the recovery. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { listBrands } from '@partner-network/contract/operations';
import { type Lifetime, now } from '../../packages/testkit/fixtures/lifetime.ts';
import { chanceOf } from '../../packages/testkit/model/chance.ts';
import { onConnection } from '../../packages/testkit/servers/postgres-start.ts';
import { say } from '../lib/program.ts';
import { createHistory } from './history.ts';
import { decisionsIn, sourceOf, watchRedisSwitches, watchStalls } from './judge/excuses.ts';
import { keepWalking, walkThroughAll } from './load.ts';
import { describe, type Fault } from './plan.ts';
import { createRecorder, type Run, recoveryMs } from './record.ts';
import { applyFaults } from './stage/faults.ts';
import { type Stage, startStage } from './stage/stage.ts';
import { steadyKeys } from './world.ts';
import { keepWriting, type ReplacedKeys } from './writers.ts';

/** Receipts are written within this time after their answers. */
const receiptsMs = 2_000;
const retryMs = 200;

export async function runPlan(
  t: Lifetime,
  folder: string,
  seed: number,
  minutes: number,
  plan: readonly Fault[],
): Promise<Run> {
  const stage = await startStage(t, folder);
  const history = createHistory(join(folder, 'history.jsonl'));
  const recorder = createRecorder(join(folder, 'answers.jsonl'));
  const keys: ReplacedKeys = { current: new Map(), revoked: [] };
  const stalls = watchStalls();
  const redis = watchRedisSwitches(stage.instances);
  const startedMs = now();
  const overMs = startedMs + minutes * 60_000;
  let isStopped = false;
  const isOver = () => isStopped;
  const loading = { baseUrl: stage.baseUrl, recorder, chance: chanceOf(seed + 1), keys, isOver };
  const adminPort = stage.admin.port;
  const writing = { url: stage.primary.url(), adminPort, history, chance: chanceOf(seed + 2), isOver };
  const load = Promise.all([keepWalking(loading), keepWriting(writing, keys)]);
  load.catch(() => {});

  const progress = setInterval(() => {
    const seconds = Math.round((now() - startedMs) / 1_000);
    say(`  ${seconds} s: ${recorder.answers.length} answers, ${recorder.walks.length} walks`);
  }, 10_000);
  try {
    const faults = await applyFaults(stage, plan, (fault) => say(describe(fault)));
    writeFileSync(join(folder, 'faults.json'), JSON.stringify(faults, undefined, 1));
    await wait(Math.max(0, overMs - now()));
    isStopped = true;
    await load;
    const endedMs = now();
    await walkThroughAll(loading);
    await wait(receiptsMs);
    const unrecovered = await lastingProblems(stage);
    const receipts = await receiptsOn(stage.primary.url());
    return {
      startedMs,
      endedMs,
      faults,
      stalls: stalls.spans,
      redisSwitches: redis.switches(),
      history,
      recorder,
      instances: stage.instances,
      receipts,
      unrecovered,
      logs: logsIn(folder),
    };
  } finally {
    isStopped = true;
    stalls.stop();
    redis.stop();
    clearInterval(progress);
  }
}

/** Problems that persist for some seconds: after the last walks a replica may lag for a moment. */
async function lastingProblems(stage: Stage): Promise<string[]> {
  const untilMs = now() + recoveryMs;
  while (true) {
    const found = await problemsOf(stage);
    if (found.length === 0 || now() > untilMs) return found;
    await wait(retryMs);
  }
}

/** Each instance must be ready, use its replica, and count a request against the rate limit in Redis. */
async function problemsOf({ instances }: Stage): Promise<string[]> {
  const found: string[] = [];
  for (const { name, port, isReady, metrics } of instances) {
    if (!(await isReady())) {
      found.push(`instance ${name} is not ready`);
      continue;
    }
    const before = await metrics();
    if (!/^partner_network_replica_used\{[^}]*\} 1$/m.test(before)) {
      found.push(`instance ${name} does not use its replica`);
    }
    const headers = { authorization: `Bearer ${steadyKeys.acme.text}` };
    await (await fetch(`http://127.0.0.1:${port}${listBrands.path}`, { headers })).text();
    // No other request is under way, so only this one changes the metric.
    if (sourceOf(decisionsIn(before), decisionsIn(await metrics())) !== 'redis') {
      found.push(`instance ${name} does not share its rate limit with the other one`);
    }
  }
  return found;
}

function logsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith('instance-'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'));
}

async function receiptsOn(url: string): Promise<Set<string>> {
  const { rows } = await onConnection(url, (client) => client.query('select request_id from receipts'));
  return new Set(rows.map(({ request_id }) => request_id as string));
}
