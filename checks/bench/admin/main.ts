/** Compares batches over HTTP with imports, and measures memory and the effect on partners. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { listBrands } from '@partner-network/contract/operations';
import { oneOf, optional, wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { parseDatabaseUrl, toUpdate } from '../../../packages/store/src/address.ts';
import { openStore } from '../../../packages/store/src/engines.ts';
import { createAdminKeys, type StartedAdmin, startAdmin } from '../../../packages/testkit/admin/started.ts';
import { fillFixture, keys } from '../../../packages/testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../../packages/testkit/fixtures/lifetime.ts';
import { executable } from '../../../packages/testkit/fixtures/run.ts';
import { withoutOwnServers } from '../../../packages/testkit/servers/postgres-start.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../../lib/program.ts';
import { cpuSecondsOf, cpuSecondsOfFamily, megabytesOf, timesIn, withoutProc } from '../lib/cpu.ts';
import { startGenerator, timesOf } from '../lib/load.ts';
import { type Measurement, quantile, report } from '../lib/report.ts';
import { type Engine, engines, newDatabase, outputOf, startService } from '../lib/service.ts';

const goals = { batch: 1.3, single: 4, megabytes: 200, p99: 1.5 };
const parts = ['batch', 'single', 'memory', 'p99'] as const;
const linesOfBatch = 10_000;
const senders = 8;
const feedLines = 400;
const neighborRounds = 5;
const neighborSeconds = 8;

const about = `
Starts "partner-network admin" on each engine and compares CPU times within one run, with those of the
database server:
  batch    a batch of ${linesOfBatch} new balances, over "import balances" of such lines
           (goal ${goals.batch})
  single   on Postgres, a line of ${senders} senders of single-line batches, over a line of
           "import --follow" that comes alone: each of them is a transaction (goal ${goals.single})
  memory   30 bodies of 16 MiB at once (goal ${goals.megabytes} MB)
  p99      of partners' requests while batches are sent, over that without batches: the median of
           rounds that alternate (goal ${goals.p99})
Ends with status 1 if a goal is missed. Run it on a machine that does nothing else.`;

let customers = 0;

/** Lines of new balances, each of a new customer. */
function newLines(count: number, more: object = {}): string[] {
  return Array.from({ length: count }, () => {
    customers += 1;
    const customer_id = `CUSTOMER_${String(customers).padStart(9, '0')}`;
    const record = { customer_id, id: `BAL_${customers}`, type: 'CHECKING', currency: 'USD', amount: 12_345 };
    return `${JSON.stringify({ ...record, updated_at: '2026-01-02T00:00:00.000Z', ...more })}\n`;
  });
}

type Scene = Awaited<ReturnType<typeof openScene>>;

async function openScene(engine: Engine) {
  const { url, pid } = await newDatabase(engine);
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox', toUpdate);
  await createAdminKeys(store);
  await store.close();
  const admin = await startAdmin(wholeRun, url, ['--log-level', 'warn']);
  return { url, admin, serverSeconds: () => (pid === undefined ? 0 : cpuSecondsOfFamily(pid)) };
}

async function sent(admin: StartedAdmin, lines: string): Promise<void> {
  const response = await admin.send('balances', lines);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`A batch got ${response.status}: ${text.slice(0, 300)}`);
}

/** CPU seconds of programs that this process started and that have ended. */
const endedSeconds = () => timesIn(readFileSync('/proc/self/stat', 'utf8')).endedSeconds;

/** CPU seconds that some work takes: of our process, and of the database server. */
async function cpuOf(scene: Scene, own: () => number, work: () => Promise<unknown>): Promise<number> {
  const before = own() + scene.serverSeconds();
  await work();
  return own() + scene.serverSeconds() - before;
}

async function measureBatches(scene: Scene, rounds: number): Promise<Measurement[]> {
  const file = join(temporaryFolder(wholeRun), 'lines.jsonl');
  const own = () => cpuSecondsOf(scene.admin.pid);
  for (let warmUp = 0; warmUp < 5; warmUp += 1) await sent(scene.admin, newLines(linesOfBatch).join(''));
  const batches: number[] = [];
  const imports: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const lines = newLines(linesOfBatch).join('');
    batches.push(await cpuOf(scene, own, () => sent(scene.admin, lines)));
    writeFileSync(file, newLines(linesOfBatch).join(''));
    const words = ['import', 'balances', file, '--environment', 'sandbox', '--database', scene.url];
    imports.push(await cpuOf(scene, endedSeconds, () => outputOf(executable, words)));
  }
  return [
    { name: 'import', figures: imports, unit: 's' },
    { name: 'batch', figures: batches, unit: 's', over: 'import', atMost: goals.batch },
  ];
}

async function measureSingles(scene: Scene, count: number): Promise<Measurement[]> {
  const lines = newLines(count);
  const send = async (some: readonly string[]) => {
    for (const line of some) await sent(scene.admin, line);
  };
  await send(newLines(200));
  const startedMs = performance.now();
  const parts = Array.from({ length: senders }, (_, part) => lines.filter((_, at) => at % senders === part));
  const single = await cpuOf(
    scene,
    () => cpuSecondsOf(scene.admin.pid),
    () => Promise.all(parts.map(send)),
  );
  const perSecond = (count / (performance.now() - startedMs)) * 1_000;
  const words = ['import', 'balances', '-', '--follow', '--environment', 'sandbox', '--database', scene.url];
  const feed = spawn(executable, words, { stdio: ['pipe', 'ignore', 'ignore'] });
  wholeRun.after(() => void feed.kill('SIGKILL'));
  const feeding = async (some: readonly string[]) => {
    for (const line of some) {
      feed.stdin.write(line);
      // The feed commits a line after 50 ms at most: each line is a transaction, as in a batch.
      await wait(75);
    }
  };
  await feeding(newLines(20));
  const followed = await cpuOf(
    scene,
    () => cpuSecondsOf(feed.pid!),
    () => feeding(newLines(feedLines)),
  );
  feed.stdin.end();
  await once(feed, 'close');
  return [
    { name: 'single lines', figures: [perSecond], unit: 'a second' },
    { name: 'feed', figures: [(followed / feedLines) * 1_000_000], unit: 'µs' },
    {
      name: 'single',
      figures: [(single / count) * 1_000_000],
      unit: 'µs',
      over: 'feed',
      atMost: goals.single,
    },
  ];
}

async function measureMemory({ url }: Scene): Promise<Measurement[]> {
  const admin = await startAdmin(wholeRun, url, ['--log-level', 'warn']);
  // Few, long lines: a brand has a megabyte of metadata, which is refused after it is read.
  const line = `${JSON.stringify({ id: 'b', metadata: { a: 'x'.repeat(1_000_000) } })}\n`;
  const body = line.repeat(16);
  const answers = await Promise.all(
    Array.from({ length: 30 }, async () => (await admin.send('brands', body)).status),
  );
  const counts = Object.entries(Object.groupBy(answers, String));
  say(`  answers: ${counts.map(([status, all]) => `${all!.length} × ${status}`).join(', ')}`);
  return [{ name: 'memory', figures: [megabytesOf(admin.pid).most], unit: 'MB', atMost: goals.megabytes }];
}

async function measureNeighbors({ url, admin }: Scene): Promise<Measurement[]> {
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox');
  await fillFixture(store);
  await store.close();
  const service = await startService(url, ['--environment', 'sandbox', '--brands-rate', '1000']);
  const generator = startGenerator();
  const requests = [keys.acme, keys.zenith].map((key) => ({ path: listBrands.path, key }));
  const stream = { requests, connections: 16, perSecond: 150 };
  const p99 = async (seconds: number) => {
    return quantile(timesOf(await generator.play(service, seconds, stream), '200'), 0.99);
  };
  await p99(5);
  const alone: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < neighborRounds; round += 1) {
    alone.push(await p99(neighborSeconds));
    let isOver = false;
    const sending = (async () => {
      while (!isOver) {
        await sent(admin, newLines(500).join(''));
        await wait(250);
      }
    })();
    beside.push(await p99(neighborSeconds));
    isOver = true;
    await sending;
  }
  return [
    { name: 'p99 alone', figures: alone, unit: 'ms' },
    { name: 'p99 beside batches', figures: beside, unit: 'ms', over: 'p99 alone', atMost: goals.p99 },
  ];
}

await runProgram({
  usage: 'npm run bench -- admin',
  about,
  options: {
    rounds: withDefault('N', wholeNumber(1, 100), 7, 'rounds of batches'),
    lines: withDefault('N', wholeNumber(100, 100_000), 4_000, 'single lines'),
    only: optional('PART', oneOf(parts), `one part alone: ${parts.join(', ')}`),
  },
  missing: () => withoutProc || withoutOwnServers(),
  run: async ({ rounds, lines, only }) => {
    const measures: Record<(typeof parts)[number], (scene: Scene) => Promise<Measurement[]>> = {
      batch: (scene) => measureBatches(scene, rounds),
      memory: measureMemory,
      single: (scene) => measureSingles(scene, lines),
      p99: measureNeighbors,
    };
    let isMet = true;
    for (const engine of engines) {
      const chosen = parts.filter(
        (part) => (only ?? part) === part && (part !== 'single' || engine === 'postgres'),
      );
      if (chosen.length === 0) continue;
      const scene = await openScene(engine);
      const measured: Measurement[] = [];
      for (const part of chosen) measured.push(...(await measures[part](scene)));
      print(`\n${engine}\n`);
      isMet = report(measured) && isMet;
    }
    return isMet;
  },
});
