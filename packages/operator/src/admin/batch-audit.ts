import { adminBounds } from '@partner-network/common/bounds/serve';
import type { Author, ImportAudit, ImportCounts, ImportKind, Store } from '@partner-network/store/port';
import type { Logger } from 'pino';
import type { BatchResult } from './batches.ts';

/** The batches of one key and kind within an hour. */
interface Series {
  readonly by: Author;
  readonly kind: ImportKind;
  readonly startedMs: number;
  /** Whether the first entry is written: with the first batch that changes something. */
  isEntered: boolean;
  batches: number;
  /** Whether its only batch has written an entry, with its counts. */
  hasOwnEntry: boolean;
  readonly counts: Record<keyof ImportCounts | 'rejected', number>;
}

const source = 'administrative API';

/**
 * Audits batches, of which there may be thousands an hour. The first batch of a key and kind writes an entry
 * in its own transaction. A second entry with the counts of all follows after an hour, or at a clean stop.
 */
export class BatchAudit {
  readonly #store: Pick<Store, 'addAudit'>;
  readonly #log: Logger;
  readonly #series = new Map<string, Series>();
  readonly #timer: NodeJS.Timeout;

  constructor(store: Pick<Store, 'addAudit'>, log: Logger) {
    this.#store = store;
    this.#log = log;
    this.#timer = setInterval(() => void this.#endOld(), adminBounds.auditMs / 60).unref();
  }

  /** The audit of a batch, or undefined if its series has an entry. */
  begin(by: Author, kind: ImportKind): ImportAudit | undefined {
    if (this.#series.get(nameOf(by, kind))?.isEntered) return undefined;
    return { ...by, target: kind, source, startedMs: Date.now() };
  }

  /** Counts a committed batch. `audit` is what `begin` returned for it. */
  count(by: Author, kind: ImportKind, result: BatchResult, audit: ImportAudit | undefined): void {
    const { written, unchanged, stale, deleted, rejected_count } = result;
    const name = nameOf(by, kind);
    const series = this.#series.get(name) ?? {
      // Without what the sender said of this batch alone.
      ...{ by: { ...by, details: {}, reason: undefined }, kind, startedMs: Date.now() },
      ...{ isEntered: false, batches: 0, hasOwnEntry: false },
      counts: { written: 0, unchanged: 0, stale: 0, deleted: 0, rejected: 0 },
    };
    this.#series.set(name, series);
    const isChange = written + deleted > 0;
    series.isEntered ||= isChange;
    series.batches += 1;
    series.hasOwnEntry = series.batches === 1 && isChange && audit !== undefined;
    const counts = { written, unchanged, stale, deleted, rejected: rejected_count };
    for (const [outcome, lines] of Object.entries(counts))
      series.counts[outcome as keyof typeof counts] += lines;
  }

  async #endOld(): Promise<void> {
    const before = Date.now() - adminBounds.auditMs;
    await this.#end(([, { startedMs }]) => startedMs <= before);
  }

  /** Writes the entries of these series. If an entry cannot be written, its counts are logged. */
  async #end(isOver: (series: [string, Series]) => boolean): Promise<void> {
    for (const [name, series] of [...this.#series].filter(isOver)) {
      this.#series.delete(name);
      const { by, kind, startedMs, isEntered, hasOwnEntry, batches, counts } = series;
      if (!isEntered || hasOwnEntry) continue;
      const details = { source, batches, ...counts, duration_ms: Date.now() - startedMs };
      await this.#store.addAudit(by, kind, details).catch((err) => {
        this.#log.error({ err, kind, ...details }, 'the audit entry about batches cannot be written');
      });
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#end(() => true);
  }
}

function nameOf({ actor }: Author, kind: ImportKind): string {
  return `${kind} ${actor}`;
}
