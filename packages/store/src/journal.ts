/** The part of the storage port for what `serve` records: receipts, last uses of keys, and usage. */
import type { Author, NewestQuery } from './accounts.ts';
import { StoreUnavailable } from './errors.ts';

/** The record that a partner requested a customer's balances, with the outcome and without the balances. */
export interface Receipt {
  readonly at: string;
  readonly request_id: string;
  readonly partner_id: string;
  readonly key_id: string;
  /** Absent if the request had no valid customer id. */
  readonly customer_id?: string;
  /** The grant that was used or, if the request was refused, the requested grant. */
  readonly grant_id?: string;
  /** GRANTED, or the error code. */
  readonly outcome: string;
}

export interface ReceiptsQuery extends NewestQuery<Receipt> {
  readonly requestId?: string | undefined;
  readonly partnerId?: string | undefined;
  /** Only together with `partnerId`: the partner's receipts are searched for it. */
  readonly keyId?: string | undefined;
  readonly customerId?: string | undefined;
  readonly outcome?: string | undefined;
}

export interface KeyUse {
  readonly keyId: string;
  /** Rounded down to the minute. */
  readonly usedAt: string;
}

/** The number of answers in an hour or a day, which begins at `from`. */
export interface UsageCount {
  readonly from: string;
  readonly partner_id: string;
  readonly key_id: string;
  /** The id of the operation, as in the metrics. */
  readonly operation: string;
  /** OK, or the code of the first error. */
  readonly code: string;
  readonly count: number;
}

/** A part of a distributed database is down, and these receipts belong to it. The others were written. */
export class PartlyWritten extends StoreUnavailable {
  readonly rest: readonly Receipt[];

  constructor(rest: readonly Receipt[], cause: unknown) {
    super('A node of the database cannot take receipts.', { cause });
    this.rest = rest;
  }
}

/** Written in batches, after the requests were answered. */
export interface JournalWrites {
  /** Idempotent: each receipt is stored once. Rejects with `PartlyWritten` if some of them are stored. */
  recordReceipts(receipts: readonly Receipt[]): Promise<void>;
  /** Takes each key once per call. Ignores a use before the stored one, unless that is in the future. */
  recordKeyUses(uses: readonly KeyUse[]): Promise<void>;
  /** Adds to the stored counts. Not idempotent: a batch whose answer was lost may be counted twice. */
  recordUsage(counts: readonly UsageCount[]): Promise<void>;
}

export interface Receipts extends JournalWrites {
  /** Newest first. */
  listReceipts(query: ReceiptsQuery): Promise<readonly Receipt[]>;
  countReceipts(olderThan: string): Promise<number>;
  /**
   * Deletes receipts, the oldest first, in small transactions with pauses. Returns their number. The audit
   * entry is written before the first deletion, so it stays if the command is killed on the way.
   */
  pruneReceipts(olderThan: string, by: Author): Promise<number>;
  /** The last use of each key by key id, without keys that were never used. */
  lastUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export interface UsageQuery extends NewestQuery<UsageCount> {
  readonly partnerId?: string | undefined;
  readonly keyId?: string | undefined;
  /** Whole hours or days of UTC, from the one that contains `since`. */
  readonly by: 'hour' | 'day';
}

export interface Usage {
  /** Newest first. */
  listUsage(query: UsageQuery): Promise<readonly UsageCount[]>;
  /** The number of stored counts of hours that began before this time. */
  countUsage(olderThan: string): Promise<number>;
  /** Deletes them, as `pruneReceipts` does. */
  pruneUsage(olderThan: string, by: Author): Promise<number>;
}
