/** The arithmetic, the verdicts and the chart of the speed bench. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { shareOf } from '../../checks/bench/import/measure.ts';
import {
  cpuSecondsOf,
  cpuSecondsOfFamily,
  megabytesIn,
  megabytesOf,
  stolenSecondsIn,
  timesIn,
} from '../../checks/bench/lib/cpu.ts';
import { axisFor, placeOf } from '../../checks/bench/speed/chart.ts';
import type { Cost } from '../../checks/bench/speed/contenders/contenders.ts';
import { judge, type Measured } from '../../checks/bench/speed/goals.ts';
import { contendersTable, goalsTable, resultsOf, rowsOf } from '../../checks/bench/speed/report.ts';

test('reads the CPU time of a process with brackets in its name', () => {
  const before = '42 (a) R 7 (b) S 7 42 42 0 -1 4194304 100 200 0 0';
  const times = timesIn(`${before} 150 25 300 50 20 0 11 0 12345\n`);
  assert.deepEqual(times, { parent: 7, ownSeconds: 1.75, endedSeconds: 3.5 });
});

test('reads the CPU time that the host gave to others', () => {
  assert.equal(stolenSecondsIn('cpu  1 2 3 4 5 6 7 850 9 10\ncpu0 1 2 3 4 5 6 7 425 9 10\n'), 8.5);
});

test('reports memory in megabytes of 1,000,000 bytes', () => {
  const status = 'Name:\tVmRSS\nVmPeak:\t 9000000 kB\nVmHWM:\t  250000 kB\nVmRSS:\t  125000 kB\n';
  assert.deepEqual(megabytesIn(status), { now: 128, most: 256 });
});

test('reports the CPU time of this process, and of a family with its ended children', {
  skip: process.platform !== 'linux' && 'takes /proc',
}, async () => {
  const { user, system } = process.cpuUsage();
  assert.ok(Math.abs(cpuSecondsOf(process.pid) - (user + system) / 1e6) < 0.05);
  assert.ok(Math.abs(megabytesOf(process.pid).now - process.memoryUsage.rss() / 1e6) < 20);
  const before = cpuSecondsOfFamily(process.pid) - cpuSecondsOf(process.pid);
  const work = 'let until = process.cpuUsage().user + 1e5; while (process.cpuUsage().user < until);';
  await once(spawn(process.execPath, ['-e', work]), 'close');
  assert.ok(cpuSecondsOfFamily(process.pid) - cpuSecondsOf(process.pid) - before >= 0.09);
});

function measuredOf(us: Readonly<Record<string, readonly Cost[]>>, more: Partial<Measured> = {}): Measured {
  return { costs: new Map(Object.entries(us)), ...more };
}

const costs = (...us: number[]): Cost[] => us.map((us) => ({ us }));

test('compares a goal with the exact median of the ratios of all rounds', () => {
  // Both were twice as slow in the second round: a ratio of medians would differ.
  const floor = costs(10, 20, 10);
  const [met] = judge(measuredOf({ 'floor.brands': floor, 'embedded.first': costs(40, 80, 90) }));
  assert.deepEqual([met!.median, met!.low, met!.high, met!.isMet], [4, 4, 9, true]);
  const [short] = judge(measuredOf({ 'floor.brands': floor, 'embedded.first': costs(40.01, 80.02, 10) }));
  assert.equal(short!.isMet, false);
  assert.match(goalsTable([short!]), /\| at most 4\.00 \| +4\.00 \| +1\.00 to 4\.00 \| falls short \|/);
});

test('judges each goal that has figures', () => {
  const page: Cost = { us: 100, databaseUs: 100 };
  const all = measuredOf(
    {
      'floor.brands': costs(20),
      'floor.balance': costs(10),
      'embedded.first': costs(80),
      'embedded.middle': costs(80),
      'embedded.balance': costs(33),
      'embedded.large': costs(97),
      'embedded.401': costs(48),
      'embedded.429': costs(49),
      'postgres.first': [page],
      'postgres.large': [{ us: 100, databaseUs: 140 }],
      'postgres.balance': costs(48),
      pgbench: [{ databaseUs: 80 }],
      'peer.dear': costs(900),
      'peer.cheap': costs(399),
    },
    {
      memory: { requests: 200_000, most: 131, quarterPeaks: [1, 1, 100, 105] },
      start: { serveMs: [90, 120], nodeMs: [20, 20] },
      imports: [{ name: 'SQLite, sorted', share: 0.33 }],
    },
  );
  const verdicts = judge(all).map(({ what, median, isMet }) => [what, Number(median.toFixed(3)), isMet]);
  assert.deepEqual(verdicts, [
    ['list brands, embedded, first page / floor', 4, true],
    ['list brands, embedded, middle page / floor', 4, true],
    ['list brands, Postgres, first page / floor', 5, true],
    ["Postgres's own CPU for list brands / pgbench", 1.25, false],
    ['list balances, embedded / floor', 3.3, true],
    ['list balances, Postgres / floor', 4.8, false],
    ['cheapest peer / ours, list brands, Postgres', 3.99, false],
    [
      'middle page of 1,000,000 brands / first page of 10,000 (of 4 partners together), embedded',
      1.212,
      false,
    ],
    ['middle page of 1,000,000 brands / first page of 10,000 (of 4 partners together), Postgres', 1.2, true],
    ['refused, 401 / admitted, embedded', 0.6, true],
    ['refused, 429 / admitted, embedded', 0.613, false],
    ['memory after 200,000 requests, embedded, MB', 131, false],
    ['its peak in the last quarter / in the third', 1.05, true],
    ['serve, embedded, start to first answer / node -e 0', 4.5, true],
    ['import / bulk rate of the engine, SQLite, sorted', 0.33, false],
  ]);
  assert.deepEqual(judge(measuredOf({})), []);
});

test('compares a contender with the floor that sends the same bytes', () => {
  const measure = async (): Promise<Cost> => ({});
  const contenders = [{ id: 'embedded.balance', name: 'one', floor: 'floor.balance', measure }] as const;
  const measured = measuredOf({ 'embedded.balance': costs(30, 90), 'floor.balance': costs(10, 10) });
  assert.deepEqual(rowsOf(contenders, measured), [
    {
      id: 'embedded.balance',
      name: 'one',
      us: { median: 30, low: 30, high: 90 },
      databaseUs: undefined,
      timesFloor: { median: 3, low: 3, high: 9 },
    },
  ]);
});

test('a published figure of others is marked as quoted, beside the peers and in no goal', () => {
  const row = { name: 'one', us: undefined, databaseUs: undefined, timesFloor: undefined };
  const quoted = /\| quoted: PostgREST.*\| +2,068 on 2 vCPU \|/;
  assert.match(contendersTable([{ id: 'peer.one', ...row }]), quoted);
  assert.doesNotMatch(contendersTable([{ id: 'embedded.first', ...row }]), quoted);
  const { quoted: stored, goals } = JSON.parse(resultsOf(new Date(), {}, [], []));
  assert.deepEqual([stored[0].requests_per_second, goals], [2_068, []]);
  assert.match(stored[0].source, /^https:/);
});

test('compares an import with a bulk path by their median times', () => {
  const took = (...seconds: number[]) => seconds.map((seconds) => ({ seconds }));
  const outcomes = { bare: took(1, 9, 1), ours: took(2, 2, 2), imported: took(4, 4, 40) };
  assert.equal(shareOf(outcomes, 'bare'), 0.25);
  assert.equal(shareOf(outcomes, 'ours'), 0.5);
});

test('the axis of the chart is logarithmic, and all bars fit', () => {
  const axis = axisFor([20, 4_300]);
  assert.deepEqual(axis, { from: 10, to: 10_000 });
  const near = (value: number, place: number) => assert.ok(Math.abs(placeOf(value, axis) - place) < 1e-9);
  near(10, 0);
  near(100, 1 / 3);
  near(1_000, 2 / 3);
  near(10_000, 1);
});
