import { adminBounds } from '@partner-network/common/bounds/operator';
import type { Author, ImportAudit, ImportCounts, ImportKind, Store } from '@partner-network/store/port';
import type { Logger } from 'pino';

/** Lines by what became of them. */
type LineCounts = Record<keyof ImportCounts | 'rejected', number>;

/** The batches of one key and kind within an hour. */
interface Series {
  readonly by: Author;
  readonly kind: ImportKind;
  /** By `performance.now()`, which a correction of the clock does not change. */
  readonly startedMs: number;
  /** Names in `On-Behalf-Of`, or undefined, whose first batch that changes something has an entry. */
  readonly entered: Set<unknown>;
  batches: number;
  readonly counts: LineCounts;
}

const source = 'administrative API';

/**
 * Audits batches, of which there may be thousands an hour. The first batch of a key and kind writes an entry
 * in its own transaction, and so does the first of each name for which the key acts. Another entry with the
 * counts of all follows after an hour, or at a clean stop.
 */
export class BatchAudit {
  readonly #store: Pick<Store, 'addAudit'>;
  readonly #log: Logger;
  readonly #series = new Map<string, Series>();
  /** The entries about series that are over, until they are written. */
  readonly #unwritten = new Set<Parameters<Store['addAudit']>>();
  #writing = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  constructor(store: Pick<Store, 'addAudit'>, log: Logger) {
    this.#store = store;
    this.#log = log;
    const endOld = () => void this.#end(performance.now() - adminBounds.auditMs);
    this.#timer = setInterval(endOld, adminBounds.auditMs / 60).unref();
  }

  /** The audit of a batch, or undefined if there is an entry for it. */
  begin(by: Author, kind: ImportKind): ImportAudit | undefined {
    if (this.#series.get(nameOf(by, kind))?.entered.has(claimOf(by))) return undefined;
    return { ...by, target: kind, source, startedMs: Date.now() };
  }

  /** Counts a committed batch. `audit` is what `begin` returned for it. */
  count(by: Author, kind: ImportKind, counts: LineCounts, audit: ImportAudit | undefined): void {
    const name = nameOf(by, kind);
    const series = this.#series.get(name) ?? {
      // Without what the sender said of this batch alone.
      by: { ...by, details: {}, reason: undefined },
      kind,
      startedMs: performance.now(),
      entered: new Set(),
      batches: 0,
      counts: { written: 0, unchanged: 0, stale: 0, deleted: 0, rejected: 0 },
    };
    this.#series.set(name, series);
    // A batch that began in the hour before may have no entry.
    const hasEntry = audit !== undefined && counts.written + counts.deleted > 0;
    if (hasEntry && series.entered.size >= adminBounds.auditNames) series.entered.clear();
    if (hasEntry) series.entered.add(claimOf(by));
    series.batches += 1;
    for (const [outcome, lines] of Object.entries(counts))
      series.counts[outcome as keyof LineCounts] += lines;
  }

  /** Ends the series that began by this time, and writes the entries about all that ended. */
  #end(untilMs: number): Promise<void> {
    for (const [name, { by, kind, startedMs, entered, batches, counts }] of this.#series) {
      if (startedMs > untilMs) continue;
      this.#series.delete(name);
      // If the only batch has an entry, its counts are there.
      const hasOwnEntry = batches === 1 && entered.size === 1;
      if (counts.written + counts.deleted === 0 || hasOwnEntry) continue;
      const duration_ms = Math.round(performance.now() - startedMs);
      this.#unwritten.add([by, kind, { source, batches, ...counts, duration_ms }]);
    }
    // One after the other, so that no entry is written twice.
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Logs the counts of an entry that fails. The next call tries it again. */
  async #write(): Promise<void> {
    for (const entry of this.#unwritten) {
      try {
        await this.#store.addAudit(...entry);
        this.#unwritten.delete(entry);
      } catch (err) {
        const [, kind, details] = entry;
        this.#log.error({ err, kind, ...details }, 'the audit entry about batches cannot be written');
      }
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#end(Number.POSITIVE_INFINITY);
  }
}

/** The name for which the sender says that it acts. */
const claimOf = ({ details }: Author) => details?.on_behalf_of;

const nameOf = ({ actor }: Author, kind: ImportKind) => `${kind} ${actor}`;
