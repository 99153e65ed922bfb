import { metric, metricOf } from '@partner-network/common/observability/metric';
import type { AdminOperationId } from '@partner-network/contract/admin/operations';
import type { Exchange } from '@partner-network/http/handle';
import type { AdminKeyOnFile, Author, ImportKind, Store } from '@partner-network/store/port';
import type { Logger } from 'pino';
import { BatchAudit, type LineCounts } from './batch-audit.ts';
import { Batches } from './batches.ts';
import type { Answered } from './request.ts';

interface Sent {
  readonly kind: ImportKind;
  readonly by: Author;
  readonly skipsRejected: boolean;
  readonly isDryRun: boolean;
}

const kinds: Partial<Record<AdminOperationId, ImportKind>> = {
  sendBrands: 'brands',
  sendBalances: 'balances',
  sendGrants: 'grants',
};

/** The kind of the batch that an operation sends, if it sends one. */
export const kindOfBatch = (id: AdminOperationId): ImportKind | undefined => kinds[id];

/** Sends batches, and counts, logs and audits them. */
export class BatchSender {
  readonly #batches: Batches;
  readonly #audit: BatchAudit;
  readonly #log: Logger;
  readonly #sent = new Map<string, number>();
  readonly #lines = new Map<string, number>();
  readonly #lagSeconds: Record<string, number> = {};

  readonly metrics = [
    metricOf('partner_network_batches_total', () => readingsOf(this.#sent)),
    metricOf('partner_network_batch_lines_total', () => readingsOf(this.#lines)),
    metric('partner_network_import_lag_seconds', () => this.#lagSeconds),
  ];

  constructor(store: Store, log: Logger) {
    this.#batches = new Batches(store);
    this.#audit = new BatchAudit(store, log);
    this.#log = log;
  }

  async send(exchange: Exchange, { id }: AdminKeyOnFile, sent: Sent): Promise<Answered> {
    const { kind, by, skipsRejected, isDryRun } = sent;
    const audit = isDryRun ? undefined : this.#audit.begin(by, kind);
    const options = { kind, skipsRejected, isDryRun, audit };
    const { result, newest } = await this.#batches.send(exchange, options);
    const { errors, ...counts } = result;
    const isRejected = result.rejected_count > 0;
    const isCommitted = !isDryRun && (skipsRejected || !isRejected);
    if (isCommitted) {
      const { read: _, rejected_count: rejected, ...written } = counts;
      this.#audit.count(by, kind, { ...written, rejected }, audit);
      this.#count(kind, { ...written, rejected }, newest);
    }
    add(this.#sent, `${kind} ${isCommitted ? 'committed' : isDryRun ? 'tried' : 'rejected'}`, 1);
    const fields = { request_id: exchange.requestId, key_id: id, kind, dry_run: isDryRun || undefined };
    this.#log.info({ ...fields, ...counts }, 'batch');
    if (isRejected) exchange.code = String((errors?.[0] as { code?: unknown } | undefined)?.code);
    const status = !isRejected ? 200 : skipsRejected ? 207 : 422;
    return { status, body: result };
  }

  /** Counts a batch that got an error as a whole, also if its key was refused. */
  countRefused(kind: ImportKind): void {
    add(this.#sent, `${kind} refused`, 1);
  }

  #count(kind: ImportKind, counts: LineCounts, newest: string | undefined): void {
    for (const [outcome, lines] of Object.entries(counts)) add(this.#lines, `${kind} ${outcome}`, lines);
    if (newest !== undefined)
      this.#lagSeconds[kind] = Math.max(0, (Date.now() - Date.parse(newest)) / 1_000) || 0;
  }

  async close(): Promise<void> {
    await this.#batches.close();
    await this.#audit.close();
  }
}

function add(counts: Map<string, number>, name: string, more: number): void {
  counts.set(name, (counts.get(name) ?? 0) + more);
}

function readingsOf(counts: ReadonlyMap<string, number>) {
  return [...counts].map(([name, value]) => {
    const [kind = '', outcome = ''] = name.split(' ');
    return { labels: { kind, outcome }, value };
  });
}
