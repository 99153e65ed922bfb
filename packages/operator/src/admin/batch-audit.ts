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

  /** Counts a committed batch. */
  count(by: Author, kind: ImportKind, { written, unchanged, stale, deleted, rejected_count }: BatchResult) {
    const name = nameOf(by, kind);
    const series = this.#series.get(name) ?? {
      ...{ by, kind, startedMs: Date.now(), isEntered: false, batches: 0 },
      counts: { written: 0, unchanged: 0, stale: 0, deleted: 0, rejected: 0 },
    };
    this.#series.set(name, series);
    series.isEntered ||= written + deleted > 0;
    series.batches += 1;
    const result = { written, unchanged, stale, deleted, rejected: rejected_count };
    for (const [outcome, lines] of Object.entries(result))
      series.counts[outcome as keyof typeof result] += lines;
  }

  async #endOld(): Promise<void> {
    const before = Date.now() - adminBounds.auditMs;
    await this.#end(([, { startedMs }]) => startedMs <= before);
  }

  /** Writes the entries of these series. If an entry cannot be written, its counts are logged. */
  async #end(isOver: (series: [string, Series]) => boolean): Promise<void> {
    for (const [name, series] of [...this.#series].filter(isOver)) {
      this.#series.delete(name);
      const { by, kind, startedMs, isEntered, batches, counts } = series;
      // The entry of a single batch has its counts already.
      if (!isEntered || batches === 1) continue;
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
