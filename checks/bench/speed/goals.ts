/** The goals, and whether a run met them. All figures but memory are ratios within one run. */
import { leastShare, type measureShares } from '../import/measure.ts';
import { median, type Spread, spreadOf } from '../lib/statistics.ts';
import type { Cost, FloorId } from './contenders/contenders.ts';
import type { measureMemory } from './memory.ts';
import { type EngineName, engineNames, partnerCount } from './services.ts';
import type { measureStart } from './start.ts';

/** What the chosen sections measured. */
export interface Measured {
  /** By the id of the contender, one cost for each round. */
  readonly costs: ReadonlyMap<string, readonly Cost[]>;
  readonly memory?: Awaited<ReturnType<typeof measureMemory>>;
  readonly start?: Awaited<ReturnType<typeof measureStart>>;
  readonly imports?: Awaited<ReturnType<typeof measureShares>>;
}

/** Judges the median of all rounds. */
export interface Verdict extends Spread {
  readonly what: string;
  readonly bound: 'at most' | 'at least';
  readonly goal: number;
  readonly isMet: boolean;
}

type Figure = (cost: Cost) => number | undefined;

const ofServer: Figure = ({ us }) => us;
const ofDatabase: Figure = ({ databaseUs }) => databaseUs;
const ofBoth: Figure = ({ us = 0, databaseUs = 0 }) => us + databaseUs;

/** Compares the goal with the exact figure; the printed figure is rounded. */
function verdictOf(what: string, bound: Verdict['bound'], goal: number, figures: readonly number[]): Verdict {
  const spread = spreadOf(figures);
  const isMet = bound === 'at most' ? spread.median <= goal : spread.median >= goal;
  return { what, bound, goal, ...spread, isMet };
}

/** The ratio of two costs in each round: a machine that is slow for a while slows both. */
export function ratiosOf(
  { costs }: Measured,
  id: string,
  otherId: string,
  figure: Figure = ofServer,
): number[] {
  const others = costs.get(otherId) ?? [];
  return (costs.get(id) ?? []).flatMap((cost, round) => {
    const one = figure(cost);
    const other = figure(others[round] ?? {});
    return one === undefined || other === undefined ? [] : [one / other];
  });
}

const labels: Record<EngineName, string> = { embedded: 'embedded', postgres: 'Postgres' };
const pages = [
  { kind: 'first', label: 'first page' },
  { kind: 'middle', label: 'middle page' },
];
const together = ` (of ${partnerCount} partners together)`;
const mostOfFloor = {
  brands: { embedded: 4, postgres: 5 },
  balance: { embedded: 3.5, postgres: 4.3 },
} as const;

const mostOfAdmitted = { 401: 0.55, 429: 0.6 } as const;

/** A checkout also resolves the names of our packages. */
const mostOfNode = { checkout: 5, package: 4.5, image: 4.5 } as const;

type Add = (what: string, bound: Verdict['bound'], goal: number, figures: readonly number[]) => void;

/** The verdict on each goal that has figures. */
export function judge(measured: Measured): Verdict[] {
  const verdicts: Verdict[] = [];
  const add: Add = (what, bound, goal, figures) => {
    if (figures.length > 0) verdicts.push(verdictOf(what, bound, goal, figures));
  };
  const toFloor = (id: string, floor: FloorId) => ratiosOf(measured, id, floor);
  for (const engine of engineNames) {
    const most = mostOfFloor.brands[engine];
    for (const { kind, label } of pages) {
      const what = `list brands, ${labels[engine]}, ${label} / floor`;
      add(what, 'at most', most, toFloor(`${engine}.${kind}`, 'floor.brands'));
    }
  }
  const ofPostgres = ratiosOf(measured, 'postgres.first', 'pgbench', ofDatabase);
  add("Postgres's own CPU for list brands / pgbench", 'at most', 1.2, ofPostgres);
  for (const engine of engineNames) {
    const what = `list balances, ${labels[engine]} / floor`;
    add(what, 'at most', mostOfFloor.balance[engine], toFloor(`${engine}.balance`, 'floor.balance'));
  }
  add('cheapest peer / ours, list brands, Postgres', 'at least', 4, cheapestPeer(measured));
  for (const engine of engineNames) {
    const what = `middle page of 1,000,000 brands / first page of 10,000${together}, ${labels[engine]}`;
    add(what, 'at most', 1.2, ratiosOf(measured, `${engine}.large`, `${engine}.first`, ofBoth));
  }
  for (const engine of engineNames) {
    for (const status of [401, 429] as const) {
      const what = `refused, ${status} / admitted, ${labels[engine]}`;
      add(
        what,
        'at most',
        mostOfAdmitted[status],
        ratiosOf(measured, `${engine}.${status}`, `${engine}.first`),
      );
    }
  }
  addOthers(measured, add);
  return verdicts;
}

function addOthers({ memory, start, imports }: Measured, add: Add): void {
  if (memory !== undefined) {
    const [, , third, last] = memory.quarterPeaks;
    add('memory after 200,000 requests, embedded, MB', 'at most', 130, [memory.most]);
    add('its peak in the last quarter / in the third', 'at most', 1.05, [last! / third!]);
  }
  for (const { name, serveMs } of start?.serveMs ?? []) {
    const ratios = serveMs.map((ms, round) => ms / start!.nodeMs[round]!);
    add(`serve, embedded, start to first answer / node -e 0, ${name}`, 'at most', mostOfNode[name], ratios);
  }
  for (const { name, share } of imports ?? []) {
    add(`import / bulk rate of the engine, ${name}`, 'at least', leastShare, [share]);
  }
}

/** The ratios of the peer with the lowest median. */
function cheapestPeer(measured: Measured): number[] {
  const peers = [...measured.costs.keys()].filter((id) => id.startsWith('peer.'));
  const ratios = peers.map((id) => ratiosOf(measured, id, 'postgres.first'));
  return ratios.toSorted((one, other) => median(one) - median(other))[0] ?? [];
}
