import { metric, metricOf } from '@partner-network/common/observability/metric';
import type { AdminOperationId } from '@partner-network/contract/admin/operations';
import type { Exchange } from '@partner-network/http/handle';
import { type Author, commits, type ImportKind, type Store } from '@partner-network/store/port';
import type { Logger } from 'pino';
import { lagSince } from '../ingest/follow.ts';
import { BatchAudit } from './batch-audit.ts';
import { Batches, type BatchOptions } from './batches.ts';
import type { Caller } from './credentials.ts';
import type { Answered } from './request.ts';

interface Sent extends Omit<BatchOptions, 'audit'> {
  readonly by: Author;
}

/** The kind of the batch that an operation sends, if it sends one. */
export const batchKinds: Partial<Record<AdminOperationId, ImportKind>> = {
  sendBrands: 'brands',
  sendBalances: 'balances',
  sendGrants: 'grants',
};

/** Sends batches, and counts, logs and audits them. */
export class BatchSender {
  readonly #batches: Batches;
  readonly #audit: BatchAudit;
  readonly #log: Logger;
  readonly #sent = zeros(['committed', 'rejected', 'tried', 'refused']);
  readonly #lines = zeros(['written', 'unchanged', 'stale', 'deleted', 'rejected']);
  readonly #lagSeconds: Record<string, number> = {};
  readonly #committedSeconds = new Map<ImportKind, number>();

  readonly metrics = [
    metricOf('partner_network_batches_total', () => readingsOf(this.#sent)),
    metricOf('partner_network_batch_lines_total', () => readingsOf(this.#lines)),
    metric('partner_network_import_lag_seconds', () => this.#lagSeconds),
    metricOf('partner_network_last_commit_timestamp_seconds', () =>
      [...this.#committedSeconds].map(([kind, value]) => ({ labels: { kind, source: 'batches' }, value })),
    ),
  ];

  constructor(store: Store, log: Logger) {
    this.#batches = new Batches(store);
    this.#audit = new BatchAudit(store, log);
    this.#log = log;
  }

  async send(exchange: Exchange, { keyId }: Caller, sent: Sent): Promise<Answered> {
    const { kind, by, mode, skipsRejected } = sent;
    const isDryRun = mode === 'try';
    const audit = isDryRun ? undefined : this.#audit.begin(by, kind);
    const { result, newest } = await this.#batches.send(exchange, { kind, mode, skipsRejected, audit });
    const { errors, ...counts } = result;
    const isRejected = result.rejected_count > 0;
    const isCommitted = commits(sent, result.rejected_count);
    const { read, rejected_count: rejected, ...written } = counts;
    const lines = { ...written, rejected };
    if (!isDryRun) {
      for (const [outcome, count] of Object.entries(lines))
        this.#lines[kind][outcome as keyof typeof lines] += count;
    }
    if (isCommitted) {
      this.#audit.count(by, kind, lines, audit);
      if (read > rejected) this.#committedSeconds.set(kind, Date.now() / 1_000);
      if (newest !== '') this.#lagSeconds[kind] = lagSince(newest) / 1_000;
    }
    const ending = isDryRun ? 'tried' : 'rejected';
    this.#sent[kind][isCommitted ? 'committed' : ending] += 1;
    const fields = { request_id: exchange.requestId, key_id: keyId, kind, dry_run: isDryRun || undefined };
    this.#log.info({ ...fields, ...counts }, 'batch');
    if (isRejected) exchange.code = String((errors?.[0] as { code?: unknown } | undefined)?.code);
    const statusOfRejected = skipsRejected ? 207 : 422;
    return { status: isRejected ? statusOfRejected : 200, body: result };
  }

  /** Counts a batch that got an error as a whole, also if its key was refused. */
  countRefused(kind: ImportKind): void {
    this.#sent[kind].refused += 1;
  }

  async close(): Promise<void> {
    await this.#batches.close();
    await this.#audit.close();
  }
}

type Counters<Outcome extends string> = Readonly<Record<ImportKind, Record<Outcome, number>>>;

/** Counters from 0: Prometheus does not notice the increase of a counter that begins with 1. */
function zeros<Outcome extends string>(outcomes: readonly Outcome[]): Counters<Outcome> {
  const ofKind = () => Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  return { brands: ofKind(), balances: ofKind(), grants: ofKind() };
}

function readingsOf(counters: Counters<string>) {
  return Object.entries(counters).flatMap(([kind, counts]) =>
    Object.entries(counts).map(([outcome, value]) => ({ labels: { kind, outcome }, value })),
  );
}
