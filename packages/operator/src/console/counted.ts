/** What takes long to find out. It is kept for a minute, and a page waits for it only for a moment. */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { adminBounds } from '@partner-network/common/bounds/operator';
import { toTime } from '@partner-network/common/times';
import type { Store } from '@partner-network/store/port';

/** All answers and the refusals of an hour. */
export type Hour = readonly [answers: number, refused: number];

/** The answers of a partner in 24 hours. */
export const unused = {
  answers: 0,
  refused: 0,
  limited: 0,
  /** Refused, because the partner was disabled. */
  disabled: 0,
  /** The peaks. */
  brands: 0,
  balances: 0,
  /** When a key was last used, at any time. */
  used: '',
  hours: new Array<Hour>(24).fill([0, 0]),
};

export type PartnerTotals = typeof unused;

export interface Counted {
  readonly at: string;
  /** The beginnings of the hours, oldest first. The current hour is included. */
  readonly starts: readonly string[];
  readonly partners: ReadonlyMap<string, PartnerTotals>;
}

const hourMs = 3_600_000;

/**
 * Reads the counts of each hour on its own, which the embedded database takes 50 ms for with 10,000 partners:
 * other requests are answered between two of them.
 */
export async function countPartners(
  store: Pick<Store, 'usageOfHour' | 'listKeys' | 'lastUses'>,
): Promise<Counted> {
  const nowMs = Date.now();
  const starts = Array.from({ length: 24 }, (_, index) =>
    toTime(nowMs - (nowMs % hourMs) - (23 - index) * hourMs),
  );
  const partners = new Map<string, PartnerTotals>();
  const totalsOf = (id: string) => {
    const totals = partners.get(id) ?? { ...unused, hours: [...unused.hours] };
    partners.set(id, totals);
    return totals;
  };
  for (const [index, start] of starts.entries()) {
    for (const { partner_id, ...hour } of await store.usageOfHour(start)) {
      const totals = totalsOf(partner_id);
      for (const name of ['answers', 'refused', 'limited', 'disabled'] as const) totals[name] += hour[name];
      for (const name of ['brands', 'balances'] as const) totals[name] = Math.max(totals[name], hour[name]);
      totals.hours[index] = [hour.answers, hour.refused];
    }
    await nextTurn();
  }
  const keys = await store.listKeys(undefined);
  const uses = await store.lastUses(keys.map(({ id }) => id));
  for (const { id, partner_id } of keys) {
    const used = uses.get(id) ?? '';
    if (used > (partners.get(partner_id)?.used ?? '')) totalsOf(partner_id).used = used;
  }
  return { at: toTime(nowMs), starts, partners };
}

/** Returns a function that gives the last result, or undefined until one is there that is not too old. */
export function kept<Result>(find: () => Promise<Result>): () => Promise<Result | undefined> {
  let last: Result | undefined;
  let foundMs = Number.NEGATIVE_INFINITY;
  let finding: Promise<Result | undefined> | undefined;
  async function findAgain(): Promise<Result> {
    try {
      last = await find();
      foundMs = performance.now();
      return last;
    } finally {
      finding = undefined;
    }
  }
  return async () => {
    if (performance.now() - foundMs < adminBounds.keptMs) return last;
    finding ??= findAgain();
    const found = finding;
    // A failure after the wait is that of the next page, too.
    found.catch(() => {});
    const isRecent = performance.now() - foundMs < 2 * adminBounds.keptMs;
    return Promise.race([found, wait(adminBounds.keptWaitMs).then(() => (isRecent ? last : undefined))]);
  };
}
