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
import { temporaryFolder } from '../../../packages/testkit/fixtures/folder.ts';
import { executable } from '../../../packages/testkit/fixtures/run.ts';
import { startPostgres, withoutOwnServers } from '../../../packages/testkit/servers/postgres-start.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../../lib/program.ts';
import { cpuSecondsOf, cpuSecondsOfFamily, megabytesOf, timesIn } from '../lib/cpu.ts';
import { startGenerator, timesOf } from '../lib/load.ts';
import { outputOf } from '../lib/processes.ts';
import { type Engine, engines, startService } from '../lib/service.ts';
import { median } from '../lib/statistics.ts';

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

interface Scene {
  readonly url: string;
  readonly admin: StartedAdmin;
  /** CPU seconds of the database server, 0 for the embedded database. */
  serverSeconds(): number;
}

async function openScene(engine: Engine): Promise<Scene> {
  const server = engine === 'postgres' ? await startPostgres(wholeRun) : undefined;
  const url = server?.url() ?? `sqlite:${join(temporaryFolder(wholeRun), 'bench.db')}`;
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox', toUpdate);
  await createAdminKeys(store);
  await store.close();
  const admin = await startAdmin(wholeRun, url, ['--log-level', 'warn']);
  return { url, admin, serverSeconds: () => (server === undefined ? 0 : cpuSecondsOfFamily(server.pid())) };
}

async function sent(admin: StartedAdmin, lines: string): Promise<void> {
  const response = await admin.send('balances', lines);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`A batch got ${response.status}: ${text.slice(0, 300)}`);
}

/** CPU seconds of programs that this process started and that have ended. */
const endedSeconds = () => timesIn(readFileSync('/proc/self/stat', 'utf8')).endedSeconds;

async function cpuOf(scene: Scene, own: () => number, work: () => Promise<unknown>): Promise<number> {
  const before = own() + scene.serverSeconds();
  await work();
  return own() + scene.serverSeconds() - before;
}

async function measureBatches(scene: Scene, rounds: number): Promise<number> {
  const file = join(temporaryFolder(wholeRun), 'lines.jsonl');
  const own = () => cpuSecondsOf(scene.admin.pid);
  for (let warmUp = 0; warmUp < 5; warmUp += 1) await sent(scene.admin, newLines(linesOfBatch).join(''));
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const lines = newLines(linesOfBatch).join('');
    const batch = await cpuOf(scene, own, () => sent(scene.admin, lines));
    writeFileSync(file, newLines(linesOfBatch).join(''));
    const words = ['import', 'balances', file, '--environment', 'sandbox', '--database', scene.url];
    const imported = await cpuOf(scene, endedSeconds, () => outputOf(executable, words));
    say(`  batch ${batch.toFixed(2)} s, import ${imported.toFixed(2)} s`);
    ratios.push(batch / imported);
  }
  return median(ratios);
}

async function measureSingles(scene: Scene, count: number): Promise<number> {
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
  const ofSingle = (single / count) * 1_000_000;
  const ofFeed = (followed / feedLines) * 1_000_000;
  say(`  ${perSecond.toFixed(0)} a second: single ${ofSingle.toFixed(0)} µs, feed ${ofFeed.toFixed(0)} µs`);
  return ofSingle / ofFeed;
}

async function measureMemory({ url }: Scene): Promise<number> {
  const admin = await startAdmin(wholeRun, url, ['--log-level', 'warn']);
  // Few, long lines: a brand has a megabyte of metadata, which is refused after it is read.
  const line = `${JSON.stringify({ id: 'b', metadata: { a: 'x'.repeat(1_000_000) } })}\n`;
  const body = line.repeat(16);
  const answers = await Promise.all(
    Array.from({ length: 30 }, async () => (await admin.send('brands', body)).status),
  );
  const counts = Object.entries(Object.groupBy(answers, String));
  say(`  answers: ${counts.map(([status, all]) => `${all!.length} × ${status}`).join(', ')}`);
  return megabytesOf(admin.pid).most;
}

async function measureNeighbors({ url, admin }: Scene): Promise<number> {
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox');
  await fillFixture(store);
  await store.close();
  const service = await startService(url, ['--environment', 'sandbox', '--brands-rate', '1000']);
  const generator = startGenerator();
  const requests = [keys.acme, keys.zenith].map((key) => ({ path: listBrands.path, key }));
  const stream = { requests, connections: 16, perSecond: 150 };
  const p99 = async (seconds: number) => {
    const [played] = await generator.play(service, seconds, stream);
    const times = timesOf(played!, '200').toSorted((one, other) => one - other);
    return times[Math.floor(times.length * 0.99)]!;
  };
  await p99(5);
  const ratios: number[] = [];
  for (let round = 0; round < neighborRounds; round += 1) {
    const alone = await p99(neighborSeconds);
    let isOver = false;
    const sending = (async () => {
      while (!isOver) {
        await sent(admin, newLines(500).join(''));
        await wait(250);
      }
    })();
    const beside = await p99(neighborSeconds);
    isOver = true;
    await sending;
    say(`  p99 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside batches`);
    ratios.push(beside / alone);
  }
  return median(ratios);
}

await runProgram({
  usage: 'npm run bench -- admin',
  about,
  options: {
    rounds: withDefault('N', wholeNumber(1, 100), 7, 'rounds of batches'),
    lines: withDefault('N', wholeNumber(100, 100_000), 4_000, 'single lines'),
    only: optional('PART', oneOf(parts), `one part alone: ${parts.join(', ')}`),
  },
  missing: () => withoutOwnServers(),
  run: async ({ rounds, lines, only }) => {
    const isMeasured = (part: (typeof parts)[number]) => (only ?? part) === part;
    let isMet = true;
    const report = (name: string, value: number, goal: number, unit: string) => {
      isMet &&= value <= goal;
      print(
        `${value <= goal ? 'ok     ' : 'not met'} ${name}: ${value.toFixed(2)}${unit} (goal: ${goal}${unit})`,
      );
    };
    for (const engine of engines) {
      const scene = await openScene(engine);
      if (isMeasured('batch')) {
        report(`batch, ${engine}`, await measureBatches(scene, rounds), goals.batch, '');
      }
      if (isMeasured('memory')) {
        report(`memory, ${engine}`, await measureMemory(scene), goals.megabytes, ' MB');
      }
      if (isMeasured('single') && engine === 'postgres') {
        report('single', await measureSingles(scene, lines), goals.single, '');
      }
      if (isMeasured('p99')) report(`p99, ${engine}`, await measureNeighbors(scene), goals.p99, '');
    }
    return isMet;
  },
});
