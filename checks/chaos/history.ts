/**
 * The history of all rows. Each change began at one time and was confirmed at another; in between, its effect
 * may or may not be visible. A row has only one writer, so its changes are ordered.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { now } from '../../packages/testkit/fixtures/lifetime.ts';
import {
  allCustomers,
  balanceIndexes,
  balanceOf,
  brandsWith,
  brandText,
  customersOf,
  partners,
  steadyKeys,
} from './world.ts';

/** Brands by partner, balances by customer, grants by partner and customer, keys by partner. */
type Table = 'brands' | 'balances' | 'grants' | 'keys';

interface Change {
  readonly fromMs: number;
  sureMs: number;
  /** The JSON that clients get; "active" for grants and keys; undefined if the row does not exist. */
  readonly value: string | undefined;
}

/** The changes of a row, oldest first. */
type Timeline = readonly Change[];

/** The rows of one owner, by id. */
export type Rows = ReadonlyMap<string, Timeline>;

export interface Entry {
  readonly table: Table;
  readonly owner: string;
  readonly id: string;
  readonly value: string | undefined;
}

export type History = ReturnType<typeof createHistory>;

export const active = 'active';
const retryMs = 100;
/** Longer than any fault. */
const giveUpMs = 60_000;

export function createHistory(logPath?: string) {
  const tables = new Map<string, Map<string, Change[]>>();

  function timelineOf({ table, owner, id }: Omit<Entry, 'value'>): Change[] {
    const rows = tables.get(`${table} ${owner}`) ?? new Map<string, Change[]>();
    tables.set(`${table} ${owner}`, rows);
    const timeline = rows.get(id) ?? [];
    rows.set(id, timeline);
    return timeline;
  }

  for (const entry of initialEntries()) {
    timelineOf(entry).push({ fromMs: -Infinity, sureMs: -Infinity, value: entry.value });
  }
  return {
    rows: (table: Table, owner: string): Rows => tables.get(`${table} ${owner}`) ?? new Map(),
    /** Repeats the work until it succeeds; then the entries are confirmed. */
    async change(entries: readonly Entry[], work: () => Promise<void>) {
      const fromMs = now();
      const changes = entries.map((entry): Change => {
        const change = { fromMs, sureMs: Infinity, value: entry.value };
        timelineOf(entry).push(change);
        return change;
      });
      await untilDone(work);
      const sureMs = now();
      for (const change of changes) change.sureMs = sureMs;
      if (logPath === undefined) return;
      appendFileSync(logPath, `${JSON.stringify({ fromMs, sureMs, entries })}\n`);
    },
  };
}

function* initialEntries(): Generator<Entry> {
  for (const owner of partners) {
    for (const fate of ['steady', 'churned', 'fed'] as const) {
      for (const index of brandsWith(owner, fate)) {
        const value = brandText(owner, index, 0);
        yield { table: 'brands', owner, id: JSON.parse(value).id, value };
      }
    }
    for (const id of customersOf(owner, 'steady')) yield { table: 'grants', owner, id, value: active };
    yield { table: 'keys', owner, id: steadyKeys[owner].id, value: active };
  }
  for (const owner of allCustomers) {
    for (const index of balanceIndexes) {
      const balance = balanceOf(owner, index, 0);
      yield { table: 'balances', owner, id: balance.id, value: JSON.stringify(balance) };
    }
  }
}

async function untilDone(work: () => Promise<void>): Promise<void> {
  const startedMs = now();
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (now() - startedMs > giveUpMs) throw error;
      await wait(retryMs);
    }
  }
}

/** The times in which a row may have had this value. A row without history never existed. */
export function spansOf(
  timeline: Timeline,
  value: string | undefined,
): readonly (readonly [number, number])[] {
  const spans = timeline.flatMap((change, index): [number, number][] =>
    change.value === value ? [[change.fromMs, timeline[index + 1]?.sureMs ?? Infinity]] : [],
  );
  const firstMs = timeline[0]?.sureMs ?? Infinity;
  return value === undefined && firstMs > -Infinity ? [[-Infinity, firstMs], ...spans] : spans;
}

/** Whether a row may have had this value at some time in the interval. */
export function mayHaveBeen(
  timeline: Timeline,
  value: string | undefined,
  fromMs: number,
  toMs: number,
): boolean {
  return spansOf(timeline, value).some(([begin, end]) => begin <= toMs && end >= fromMs);
}
