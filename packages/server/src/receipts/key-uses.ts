import { receiptsBounds } from '../bounds/receipts.ts';
import { toTime } from '../lib/times.ts';
import type { KeyUse } from '../store/port.ts';

const minuteMs = 60_000;

interface KeyUses {
  /** Whether there is something to write for it: a key costs one write a minute, however often it is used. */
  note(keyId: string, nowMs: number): boolean;
  isEmpty(): boolean;
  /** Writes those that wait; all of them go on waiting when it fails. */
  write(record: (uses: readonly KeyUse[]) => Promise<void>): Promise<void>;
}

/** The minute in which each key was last used. */
export function createKeyUses(): KeyUses {
  const noted = new Map<string, number>();
  const waiting = new Map<string, number>();

  return {
    note(keyId, nowMs) {
      const minute = Math.floor(nowMs / minuteMs);
      if (noted.get(keyId) === minute) return false;
      // To forget costs a write that says nothing new.
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
