import { receiptsBounds } from '../bounds/receipts.ts';
import { toTime } from '../lib/times.ts';
import type { KeyUse } from '../store/port.ts';

const minuteMs = 60_000;

interface KeyUses {
  /** Returns whether there is something to write. A key costs at most one write per minute. */
  note(keyId: string, nowMs: number): boolean;
  isEmpty(): boolean;
  /** Writes the waiting uses. If that fails, all of them stay. */
  write(record: (uses: readonly KeyUse[]) => Promise<void>): Promise<void>;
}

/** Keeps the minute in which each key was last used. */
export function createKeyUses(): KeyUses {
  const noted = new Map<string, number>();
  const waiting = new Map<string, number>();

  return {
    note(keyId, nowMs) {
      const minute = Math.floor(nowMs / minuteMs);
      if (noted.get(keyId) === minute) return false;
      // Clearing costs at most one redundant write per key.
      if (noted.size >= receiptsBounds.keyUsesNoted) noted.clear();
      if (waiting.size >= receiptsBounds.keyUsesNoted) return false;
      noted.set(keyId, minute);
      waiting.set(keyId, minute);
      return true;
    },

    isEmpty: () => waiting.size === 0,

    async write(record) {
      if (waiting.size === 0) return;
      const batch = [...waiting];
      await record(batch.map(([keyId, minute]) => ({ keyId, usedAt: toTime(minute * minuteMs) })));
      for (const [keyId, minute] of batch) if (waiting.get(keyId) === minute) waiting.delete(keyId);
    },
  };
}
