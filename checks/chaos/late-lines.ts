/** Sends lines that come too late: older versions, also of deleted records, and revoked grants as active. */
import { importValues } from '../../packages/operator/src/ingest/import.ts';
import type { ImportKind, Store } from '../../packages/store/src/port.ts';
import { now } from '../../packages/testkit/fixtures/clock.ts';
import type { Chance } from '../../packages/testkit/model/chance.ts';
import type { History } from './history.ts';

export type LateLines = ReturnType<typeof createLateLines>;

interface Confirmed {
  readonly kind: ImportKind;
  readonly version: number;
  /** The line of an older version. */
  lineOf(version: number): unknown;
}

export function createLateLines({ late }: Pick<History, 'late'>, chance: Chance) {
  const confirmed = new Map<string, Confirmed>();
  return {
    /** From now on this version of the record, or a newer one, is stored or deleted. */
    confirm: (kind: ImportKind, record: string, version: number, lineOf: Confirmed['lineOf']) => {
      confirmed.set(`${kind} ${record}`, { kind, version, lineOf });
    },
    /** Imports some late lines of one kind, if a record of this kind is confirmed. */
    send: async (store: Store): Promise<void> => {
      const kind = chance.oneOf(['brands', 'balances', 'grants'] as const);
      const ofKind = [...confirmed.values()].filter((one) => one.kind === kind);
      if (ofKind.length === 0) return;
      const lines = [1, 2, 3, 4, 5].map(() => {
        const { version, lineOf } = chance.oneOf(ofKind);
        return lineOf(chance.between(0, Math.max(0, version - 1)));
      });
      const atMs = now();
      const { written, rejected_count } = await importValues(store, kind, lines);
      late.push({ atMs, lines: lines.length, taken: written + rejected_count });
    },
  };
}
