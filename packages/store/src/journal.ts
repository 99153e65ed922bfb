/** The part of the storage port for what is recorded: receipts, uses of keys, usage, and the audit log. */
import type { ListingName, ListingOperation } from '@partner-network/contract/operations';
import { StoreUnavailable } from './errors.ts';

/** The record of a request and its outcome, without what was listed. Answered lists of brands have none. */
export interface Receipt {
  readonly at: string;
  readonly request_id: string;
  readonly operation: ListingOperation['id'];
  readonly partner_id: string;
  readonly key_id: string;
  /** Absent if the request had no valid customer id. */
  readonly customer_id?: string;
  /** The grant that was used or, if the request was refused, the requested grant. */
  readonly grant_id?: string;
  /** GRANTED, or the error code. */
  readonly outcome: string;
}

export interface ReceiptsQuery extends NewestQuery<Pick<Receipt, 'at' | 'request_id'>> {
  readonly requestId?: string | undefined;
  readonly partnerId?: string | undefined;
  /** Only together with `partnerId`: the partner's receipts are searched for it. */
  readonly keyId?: string | undefined;
  readonly customerId?: string | undefined;
  readonly operation?: Receipt['operation'] | undefined;
  readonly outcome?: string | undefined;
  /** Only with a short span of time: all of it is searched. */
  readonly isRefused?: true;
}

/** Requests of one key that were refused with one code. */
export type Refusals = Pick<Receipt, 'partner_id' | 'key_id' | 'outcome'> & {
  readonly operation: string;
  readonly since: string;
};

export interface ReceiptCountsQuery
  extends Omit<ReceiptsQuery, 'requestId' | 'operation' | 'isRefused' | 'after'> {
  readonly offset: number;
}

export interface ReceiptCounts {
  /** No customer: the requests had no valid customer id. First and last: of the granted ones. */
  readonly counts: readonly (Pick<Receipt, 'customer_id' | 'partner_id' | 'key_id'> &
    Readonly<Record<'granted' | 'refused', number> & Partial<Record<'first' | 'last', string>>>)[];
  /** The time of the oldest receipt that was searched, if there may be older ones. */
  readonly cutAt: string | undefined;
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
  /** With OK: the most requests of the partner, by all its keys, that one instance admitted in one second. */
  readonly peak?: number;
  /** With OK: the longest answer. */
  readonly slowest_ms?: number;
}

/** All answers, refusals, those with RATE_LIMITED, and the peak of each listing, 0 if it is not known. */
export type PartnerUsage = Pick<UsageCount, 'partner_id'> &
  Readonly<Record<'answers' | 'refused' | 'limited' | 'disabled' | ListingName, number>>;

/** A part of a distributed database is down, and these receipts belong to it. The others were written. */
export class PartlyWritten extends StoreUnavailable {
  readonly rest: readonly Receipt[];

  constructor(rest: readonly Receipt[], cause: unknown) {
    super('A node of the database cannot take receipts.', { cause });
    this.rest = rest;
  }
}

/** Records that are deleted when they are old. */
export type Prunable = 'receipts' | 'usage';

/** Written in batches, after the requests were answered. */
export interface JournalWrites {
  /** Idempotent: each receipt is stored once. Rejects with `PartlyWritten` if some of them are stored. */
  recordReceipts(receipts: readonly Receipt[]): Promise<void>;
  /** Takes each key once per call. Ignores a use before the stored one, unless that is in the future. */
  recordKeyUses(uses: readonly KeyUse[]): Promise<void>;
  /** Adds to the stored counts. Not idempotent: a batch whose answer was lost may be counted twice. */
  recordUsage(counts: readonly UsageCount[]): Promise<void>;
}

export interface Journal extends JournalWrites {
  listReceipts(query: ReceiptsQuery): Promise<readonly Receipt[]>;
  /** When the first and the last refusal of a kind were since a time, by receipts. */
  refusalTimes(refusals: Refusals): Promise<Partial<Record<'first' | 'last', string>>>;
  /** Receipts of listings of balances, counted by customer, partner and key, the most granted first. */
  countReceipts(query: ReceiptCountsQuery): Promise<ReceiptCounts>;
  listUsage(query: UsageQuery): Promise<readonly UsageCount[]>;
  /** What each partner was answered in the hour that begins at `from`. */
  usageOfHour(from: string): Promise<readonly PartnerUsage[]>;
  /** The last use of each key by key id, without keys that were never used. */
  lastUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The number of records from before this time. Usage of an hour is from the beginning of the hour. */
  countOld(table: Prunable, olderThan: string): Promise<number>;
  /**
   * Deletes these records, the oldest first, in small transactions with pauses. Returns their number. The
   * audit entry is written before the first deletion, so it stays if the command is killed on the way.
   */
  prune(table: Prunable, olderThan: string, by: Author): Promise<number>;
}

export type UsagePosition = Omit<UsageCount, 'count' | 'peak' | 'slowest_ms'>;

export interface UsageQuery extends NewestQuery<UsagePosition> {
  readonly partnerId?: string | undefined;
  readonly keyId?: string | undefined;
  /** Whole hours or days of UTC, from the one that contains `since`. */
  readonly by: 'hour' | 'day';
}

/**
 * What an entry of the audit log says was done, and what its target is the id of, if people look that up.
 * Stored entries have these words, so a released one never changes.
 */
export const auditActions = {
  'partners create': 'partner',
  'partners rename': 'partner',
  'partners disable': 'partner',
  'partners enable': 'partner',
  'partners limit': 'partner',
  'partners import': undefined,
  'keys create': 'key',
  'keys rotate': 'key',
  'keys revoke': 'key',
  'admin-keys create': undefined,
  'admin-keys rotate': undefined,
  'admin-keys revoke': undefined,
  'grants create': 'grant',
  // All grants of a customer have one entry, whose target is the customer.
  'grants revoke': 'grant',
  'customers erase': 'customer',
  'cursor-key rotate': undefined,
  'console sign-in': undefined,
  'import brands': undefined,
  'import balances': undefined,
  'import grants': undefined,
  'import erasures': undefined,
  'batch brands': undefined,
  'batch balances': undefined,
  'batch grants': undefined,
  'receipts prune': undefined,
  'usage prune': undefined,
  /** Demo data of a sandbox. */
  sandbox: undefined,
  /** Tried every 15 seconds, and always rolled back. */
  'write probe': undefined,
} as const;

export type AuditAction = keyof typeof auditActions;

/** Who makes a change, and what is done. */
export interface Author {
  readonly actor: string;
  readonly action: AuditAction;
  /** Why the change is made. It goes to the details of the entry. */
  readonly reason?: string | undefined;
  /** What the command adds to the details of the entry. */
  readonly details?: AuditEntry['details'];
}

/** The record that something was changed. It holds no secret, no digest, no amount and no personal data. */
export interface AuditEntry extends Pick<Author, 'actor' | 'action'> {
  readonly at: string;
  /** The id of what was changed, or a plain word for several things, such as "receipts". */
  readonly target: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** The role that wrote the entry, by Postgres itself. Absent in entries of older versions. */
  readonly db_user?: string;
  /** The address of the connection, by Postgres itself. Absent on a socket of the machine. */
  readonly client_address?: string;
}

export interface NumberedEntry extends AuditEntry {
  readonly seq: number;
}

/** A page of a list, newest first. `Position` has the fields that order the records. */
export interface NewestQuery<Position> {
  readonly since?: string | undefined;
  /** Only records before this time. */
  readonly until?: string | undefined;
  /** Only records older than this one, the last of the previous page. */
  readonly after?: Position | undefined;
  readonly limit: number;
}

export interface AuditQuery
  extends NewestQuery<Pick<NumberedEntry, 'at' | 'seq'>>,
    Partial<Record<'actor' | 'action' | 'target' | 'partnerId' | 'customerId', string | undefined>> {}

/** How far a reader of the audit log has come. Plain data, so that it can be kept. */
export interface AuditPosition {
  /** The highest number that was read. */
  readonly last: number;
  /** Ranges of lower numbers that were missing: a transaction may commit after a later one. */
  readonly missing: readonly MissingNumbers[];
}

export interface MissingNumbers {
  readonly from: number;
  readonly to: number;
  /** When all transactions before this id have ended, the numbers stay missing. '' if not known yet. */
  readonly until: string;
}

/** The audit log. Each change adds its own entry, in the same transaction. */
export interface AuditLog {
  listAudit(query: AuditQuery): Promise<readonly NumberedEntry[]>;
  /** The entries of one action about any of these targets, newest first. */
  auditOf(action: AuditAction, targets: readonly string[]): Promise<readonly NumberedEntry[]>;
  /** The end of the log, or the place where the entries since this time begin. */
  auditPosition(since: string | undefined): Promise<AuditPosition>;
  /** The entries that were committed after the position, each once, and the next position. */
  followAudit(
    position: AuditPosition,
    limit: number,
  ): Promise<{ readonly entries: readonly NumberedEntry[]; readonly position: AuditPosition }>;
  /** Adds an entry about a feed, which changes records in many transactions. */
  addAudit(by: Author, target: string, details: AuditEntry['details']): Promise<void>;
}
