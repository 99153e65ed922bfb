/** Measures what data, imports and pages cost on a Citus cluster, compared with one Postgres server. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { startCluster } from '../../../packages/testkit/citus/cluster.ts';
import { findCitus } from '../../../packages/testkit/citus/programs.ts';
import type { Served } from '../../../packages/testkit/fixtures/run.ts';
import type { PostgresServer } from '../../../packages/testkit/servers/postgres-process.ts';
import { onConnection, startPostgres } from '../../../packages/testkit/servers/postgres-start.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../../lib/program.ts';
import { cpuSecondsOf, cpuSecondsOfFamily } from '../lib/cpu.ts';
import { startGenerator } from '../lib/load.ts';
import { startService } from '../lib/service.ts';
import { median } from '../lib/statistics.ts';
import { markdown } from '../lib/table.ts';
import { createAccess, importFile, kinds, requestsOf, writeFiles, writeReceipts } from './data.ts';

const about = `
Starts a Postgres server and a Citus cluster of a coordinator and two workers, which use TLS between them.
Imports the same brands, balances and grants into both, and prints the bytes of a row with its indexes, the
CPU time of a row's import, and the CPU time of a page: the median of all rounds after a warm-up round.`;

/** All data fits into memory, and no vacuum or checkpoint runs during the measurement. */
const settings = {
  shared_buffers: '512MB',
  max_wal_size: '8GB',
  checkpoint_timeout: '1d',
  autovacuum: 'off',
};
const [connections, seconds] = [16, 5];
/** Receipts are written four times a second, and ended connections must be counted by their server. */
const settleMs = 700;

interface Side {
  readonly name: string;
  readonly url: string;
  /** The coordinator, or the only server, first. */
  readonly servers: readonly PostgresServer[];
}

async function startSides(): Promise<Side[]> {
  const plain = await startPostgres(wholeRun, settings);
  const cluster = await startCluster(wholeRun, { ...settings, 'citus.node_conninfo': 'sslmode=require' });
  return [
    { name: 'one server', url: plain.url(), servers: [plain] },
    {
      name: 'Citus',
      url: await cluster.createDatabase('bench'),
      servers: [cluster.coordinator, ...cluster.workers],
    },
  ];
}

function cpuSecondsOfServer({ folder }: PostgresServer): number {
  return cpuSecondsOfFamily(Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]));
}

/** Runs the work, and returns its CPU time in µs on each process, divided by what it returns. */
async function costs(read: () => number[], work: () => Promise<number>): Promise<number[]> {
  const before = read();
  const count = await work();
  await wait(settleMs);
  return read().map((seconds, index) => ((seconds - before[index]!) * 1_000_000) / count);
}

const onServers = ({ servers }: Side) => servers.map(cpuSecondsOfServer);

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const whole = (value: number) => Math.round(value).toLocaleString('en');

/** The CPU time on the only server, and on the coordinator and all nodes. */
const compared = ([plain, citus]: readonly (readonly number[])[]) =>
  [plain![0]!, citus![0]!, sum(citus!)].map(whole);

/** The bytes of a row with its indexes. */
async function bytesOf({ url, servers }: Side, table: string): Promise<number> {
  const size = servers.length === 1 ? 'pg_total_relation_size' : 'citus_total_relation_size';
  const query = `select ${size}('${table}') / count(*) as bytes from ${table}`;
  return onConnection(url, async (client) => Number((await client.query(query)).rows[0].bytes));
}

async function measureRows(sides: readonly Side[], rows: number): Promise<void> {
  const files = await writeFiles(rows);
  const table = [
    [
      'a row of',
      'bytes: one server',
      'Citus',
      'CPU, µs: one server',
      'coordinator',
      'all nodes',
      'rows/s: one server',
      'Citus',
    ],
  ];
  for (const kind of [...kinds, 'receipts'] as const) {
    const found: { bytes: number; us: number[]; perSecond: number }[] = [];
    for (const side of sides) {
      say(`Writing ${kind}: ${side.name}.`);
      let perSecond = 0;
      const us = await costs(
        () => onServers(side),
        async () => {
          const startedMs = performance.now();
          await (kind === 'receipts'
            ? writeReceipts(side.url, rows)
            : importFile(side.url, kind, files[kind]));
          perSecond = (rows * 1_000) / (performance.now() - startedMs);
          return rows;
        },
      );
      found.push({ bytes: await bytesOf(side, kind), us, perSecond });
    }
    table.push([
      kind,
      ...found.map(({ bytes }) => whole(bytes)),
      ...compared(found.map(({ us }) => us)),
      ...found.map(({ perSecond }) => whole(perSecond)),
    ]);
  }
  print(`${markdown(table)}\n`);
}

async function measurePages(sides: readonly Side[], keys: readonly string[], rows: number, rounds: number) {
  const generator = startGenerator();
  const services: Served[] = [];
  for (const { url } of sides) services.push(await startService(url, ['--brands-rate', '10000']));
  const table = [
    ['a page of', 'CPU, µs: one server', 'coordinator', 'all nodes', 'serve on one server', 'serve on Citus'],
  ];
  for (const [kind, requests] of Object.entries(requestsOf(keys, rows))) {
    const measured: number[][][] = sides.map(() => []);
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, side] of sides.entries()) {
        const us = await costs(
          () => [cpuSecondsOf(services[index]!.pid), ...onServers(side)],
          async () => {
            const [played] = await generator.play(services[index]!, seconds, { requests, connections });
            return played!.answers['200']?.length ?? 0;
          },
        );
        say(`Round ${round} of ${rounds}, ${kind}, ${side.name}: ${us.map(whole).join(' + ')} µs.`);
        if (round > 0) measured[index]!.push(us);
      }
    }
    const medians = measured.map((of) => of[0]!.map((_, index) => median(of.map((us) => us[index]!))));
    table.push([kind, ...compared(medians.map(([, ...us]) => us)), ...medians.map(([us]) => whole(us!))]);
  }
  print(markdown(table));
}

await runProgram({
  usage: 'npm run bench -- citus',
  about,
  options: {
    rows: withDefault('N', wholeNumber(1_000, 10_000_000), 100_000, 'rows of each table'),
    rounds: withDefault('N', wholeNumber(1, 100), 5, 'rounds of pages after the warm-up'),
  },
  missing: () =>
    !findCitus() && 'No Postgres on this machine has Citus. "npm run check -- citus" can build it.',
  run: async ({ rows, rounds }) => {
    const sides = await startSides();
    const keys = await createAccess(
      sides.map(({ url, servers }) => ({ url, isSpread: servers.length > 1 })),
      rows,
    );
    await measureRows(sides, rows);
    await measurePages(sides, keys, rows, rounds);
    return true;
  },
});
