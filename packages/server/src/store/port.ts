/** The storage port: what the service needs of a database. Every engine passes the same test suite. */
import type { Environment } from '@partner-network/contract/environments';
import type { Operation } from '@partner-network/contract/operations';
import type { Scope } from '@partner-network/contract/scopes';
import type { Metric } from '../observability/metric.ts';
import type { Served } from './served.ts';

/** The database cannot answer now: unreachable, locked, out of disk. The client gets a 503. */
export class StoreUnavailable extends Error {}

/** Another process holds the lock. Nothing was changed, and a retry may succeed. */
export class StoreLocked extends StoreUnavailable {}

/** A record with this id already exists. */
export class AlreadyExists extends Error {}

export interface Page {
  /** JSON of the records, joined by commas. */
  readonly records: string;
  /** Length of `records` in UTF-8 bytes. It equals the number of characters if all of them are ASCII. */
  readonly bytes: number;
  /** The id that the next page starts after, or undefined on the last page. */
  readonly next: string | undefined;
  /** Write-ahead log position that the page was read at. Only Postgres has one. */
  readonly walPosition?: bigint | undefined;
}

export interface KeyOnFile {
  readonly id: string;
  readonly partnerId: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: string | undefined;
  readonly isRevoked: boolean;
  readonly isPartnerDisabled: boolean;
}

interface PageQuery {
  readonly partnerId: string;
  /** Only records after this id, in byte order. The empty string comes before every id. */
  readonly after: string;
  readonly limit: number;
}

export interface BrandsQuery extends PageQuery {
  readonly referenceId: string | undefined;
  /** The `walPosition` of the previous page. A replica that has not replayed up to it is not used. */
  readonly walPosition?: bigint | undefined;
}

export interface BalancesQuery extends PageQuery {
  readonly customerId: string;
  readonly type: string;
  readonly grantId: string | undefined;
  /** The current time: the grant must not expire before or at it. */
  readonly at: string;
}

export const grantStatuses = ['ACTIVE', 'CONSUMED', 'REVOKED', 'EXPIRED'] as const;
type GrantStatus = (typeof grantStatuses)[number];

/** A page if the grant is active, otherwise what is wrong with the grant. */
export type BalancesAnswer =
  | { readonly grant: 'ACTIVE'; readonly grantId: string; readonly page: Page }
  | { readonly grant: Exclude<GrantStatus, 'ACTIVE'> | 'NOT_FOUND' };

export interface CursorKey {
  /** 0 to 255. A cursor carries the id of the key that sealed it. */
  readonly id: number;
  readonly secret: Uint8Array;
  readonly created_at: string;
  /** One key seals. Newer keys wait for their turn, older keys only open. All of them open cursors. */
  readonly status: 'waiting' | 'sealing' | 'opening';
  /** When a waiting key starts to seal. */
  readonly seals_from?: string;
  /** When the key stops opening cursors. Absent on the newest key. */
  readonly opens_until?: string;
}

export interface CursorKeyRotation {
  readonly key: CursorKey;
  /** Older keys that still open cursors. */
  readonly retired: readonly CursorKey[];
  /** Ids of keys that were deleted although they still opened cursors. */
  readonly discarded: readonly number[];
}

/** The reads of a request. Keys, grants and balances are current; brands may be up to a second old. */
export interface Reads extends Record<Operation['id'], (query: never) => Promise<unknown>> {
  findKey(digest: Uint8Array): Promise<KeyOnFile | undefined>;
  listBrands(query: BrandsQuery): Promise<Page>;
  listBalances(query: BalancesQuery): Promise<BalancesAnswer>;
  /** Keys that are in use by the database's clock: the sealing key first, then the others, newest first. */
  cursorKeys(): Promise<readonly CursorKey[]>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
}

export interface Partner {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly disabled_at?: string;
}

export interface ApiKey {
  readonly id: string;
  readonly partner_id: string;
  readonly name?: string;
  readonly scopes: readonly Scope[];
  /** The last characters of the key, to distinguish keys in a list. */
  readonly last_four: string;
  readonly created_at: string;
  /** Who created it. Absent on keys of older versions. */
  readonly created_by?: string;
  readonly expires_at?: string;
  readonly revoked_at?: string;
}

/** What a new key does not take over from the key that it replaces. */
export interface Replacement extends Pick<ApiKey, 'id' | 'last_four'> {
  readonly digest: Uint8Array;
  /** How long the old key still works. With 0 it is revoked. */
  readonly overlapMs: number;
  /** By default the new key gets the lifetime of the old one, counted from now. */
  readonly expiresAt?: string | undefined;
}

/** A type and not an interface, so that it is assignable to ImportRow. */
export type Grant = {
  readonly id: string;
  readonly partner_id: string;
  readonly customer_id: string;
  readonly action: 'CHECKING_BALANCE';
  readonly status: GrantStatus;
  readonly expires_at?: string;
  readonly created_at: string;
  readonly updated_at: string;
};

/** At least one of partner and customer. */
export interface GrantsQuery {
  readonly partnerId?: string | undefined;
  readonly customerId?: string | undefined;
  /** The status at this time: an active grant past its expiry counts as expired. */
  readonly status?: GrantStatus | undefined;
  readonly at: string;
}

/** The numbers of records that were deleted. */
export type Erasure = Readonly<Record<'balances' | 'grants', number>>;

/**
 * Partners, keys and grants, as operators manage them. Each change writes an audit entry in the same
 * transaction. A change that finds nothing to do writes none, and returns false or undefined.
 */
export interface Accounts {
  createPartner(partner: Partner, by: Author): Promise<void>;
  findPartner(id: string): Promise<Partner | undefined>;
  listPartners(): Promise<readonly Partner[]>;
  /** Enables the partner if `at` is undefined. A partner that is disabled twice keeps the first time. */
  setPartnerDisabled(id: string, at: string | undefined, by: Author): Promise<boolean>;
  /** Does nothing if the name is not `from`: somebody else has changed it. */
  renamePartner(id: string, from: string, to: string, by: Author): Promise<boolean>;

  /** Stores the author as `created_by`. */
  createKey(key: ApiKey, digest: Uint8Array, by: Author): Promise<void>;
  findKeyById(id: string): Promise<ApiKey | undefined>;
  /** The keys of one partner, or all keys. */
  listKeys(partnerId: string | undefined): Promise<readonly ApiKey[]>;
  revokeKey(id: string, at: string, by: Author): Promise<boolean>;
  /**
   * Issues a key with the old key's partner, name, scopes and lifetime. The old key's expiry never moves to a
   * later time. Issues nothing if the old key does not work any more, also if it was revoked a moment ago.
   */
  rotateKey(
    oldId: string,
    replacement: Replacement,
    by: Author,
  ): Promise<Readonly<Record<'old' | 'key', ApiKey>> | undefined>;

  createGrant(grant: Grant, by: Author): Promise<void>;
  /** Grant ids are unique per customer, so several grants can have the same id. */
  findGrants(id: string): Promise<readonly Grant[]>;
  listGrants(query: GrantsQuery): Promise<readonly Grant[]>;
  /** Only an active grant changes: another status is final. */
  revokeGrant(customerId: string, id: string, at: string, by: Author): Promise<boolean>;
  /** Revokes all active grants of a customer, and returns them. */
  revokeGrants(customerId: string, at: string, by: Author): Promise<readonly Grant[]>;

  /**
   * Deletes the customer's balances and grants. No record of the customer that is not newer than the erasure
   * is written again. Undefined if nothing is stored of the customer.
   */
  eraseCustomer(customerId: string, by: Author): Promise<Erasure | undefined>;
}

export type ImportKind = 'brands' | 'balances' | 'grants';

/**
 * A validated line by field. Metadata is JSON with sorted keys, so that equal metadata is equal text. A row
 * with `deleted_at` deletes a brand or a balance. `is_timed` is 1 if the line gives `updated_at`, else 0: then
 * `updated_at` is the time of the import. For grants, `line` is the number of the line, an absent `status` or
 * `expires_at` keeps the stored value, and an empty `expires_at` stands for null.
 */
export type ImportRow = Readonly<Record<string, string | number | undefined>>;

/** Stale lines are older than what is stored, so they are not written. */
export type ImportCounts = Readonly<Record<'written' | 'unchanged' | 'stale' | 'deleted', number>>;

export interface ImportResult extends ImportCounts {
  /** Lines of grants that would change what never changes, with the fields, in no order. */
  readonly rejected: readonly { readonly line: number; readonly fields: readonly string[] }[];
}

export interface ImportWrite {
  /** `try` counts and rolls back. `keep` commits and clears the staged rows, so that the run can go on. */
  readonly mode: 'keep' | 'try';
  /** Write the other rows although some are rejected. Otherwise nothing is written then. */
  readonly skipsRejected?: boolean;
  /** Adds an entry to the audit log if a record was written or deleted. */
  readonly audit?: ImportAudit | undefined;
}

export interface ImportAudit extends Author {
  readonly target: string;
  /** The name of the file, without its folder. */
  readonly source: string;
  readonly startedMs: number;
}

/** An import: rows are staged first, which may take long, and then written in one transaction. */
export interface ImportRun {
  stage(rows: readonly ImportRow[]): Promise<void>;
  /** How many stored records were not staged, and how many are stored. Needs `deletesMissing`. */
  countMissing(): Promise<Missing>;
  /** Writes the staged rows in one transaction. */
  write(options: ImportWrite): Promise<ImportResult>;
  /** Drops the staged rows and releases all locks. Safe to call twice. */
  end(): Promise<void>;
}

/** Records of the partners that the rows name, for brands; otherwise all records. */
export type Missing = Readonly<Record<'missing' | 'stored', number>>;

export interface ImportBegin {
  /** Fast: rows come from a file, so the tables may stay locked until the end. Slow: rows come from a feed. */
  readonly pace?: 'fast' | 'slow';
  /** Delete the brands or balances that were not staged and are not newer than the start of the import. */
  readonly deletesMissing?: boolean;
}

export interface Imports {
  beginImport(kind: ImportKind, options?: ImportBegin): Promise<ImportRun>;
}

export interface ExportSelection {
  readonly kind: ImportKind;
  /** The owner of the brands. Absent: all brands, each with its `partner_id`. Other kinds have no owner. */
  readonly partnerId?: string | undefined;
}

/** A partner with all its keys. A key's digest is in hex digits; the key itself is never stored. */
export interface PartnerWithKeys extends Partner {
  readonly keys: readonly (Omit<ApiKey, 'partner_id'> & { readonly digest: string })[];
}

/** What happened to the partners and keys of a file. */
export type MoveCounts = Readonly<Record<'created' | 'changed' | 'unchanged', MovedCounts>>;
export type MovedCounts = Readonly<Record<'partners' | 'keys', number>>;

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

export interface ReceiptsQuery {
  readonly requestId?: string | undefined;
  readonly partnerId?: string | undefined;
  /** Only together with `partnerId`: the partner's receipts are searched for it. */
  readonly keyId?: string | undefined;
  readonly customerId?: string | undefined;
  readonly outcome?: string | undefined;
  readonly since?: string | undefined;
  /** Only receipts before this time. */
  readonly until?: string | undefined;
  /** Only receipts older than this one, the last of the previous page. */
  readonly after?: Receipt | undefined;
  readonly limit: number;
}

export interface KeyUse {
  readonly keyId: string;
  /** Rounded down to the minute. */
  readonly usedAt: string;
}

/** Written in batches, after the requests were answered. */
export interface ReceiptWrites {
  /** Idempotent: each receipt is stored once. */
  recordReceipts(receipts: readonly Receipt[]): Promise<void>;
  /** Takes each key once per call. Ignores a use that is earlier than the stored one. */
  recordKeyUses(uses: readonly KeyUse[]): Promise<void>;
}

export interface Receipts extends ReceiptWrites {
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

/** Who makes a change, and with which command. */
export interface Author {
  readonly actor: string;
  /** The name of the command, such as "keys rotate". */
  readonly action: string;
  /** What the command adds to the details of the entry. */
  readonly details?: AuditEntry['details'];
}

/** The record that something was changed. It holds no secret, no digest, no amount and no personal data. */
export interface AuditEntry extends Pick<Author, 'actor' | 'action'> {
  readonly at: string;
  /** The id of what was changed, or a plain word for several things, such as "receipts". */
  readonly target: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** An entry with its number in the log. */
export interface NumberedEntry extends AuditEntry {
  readonly seq: number;
}

export interface AuditQuery extends Partial<Record<'actor' | 'action' | 'target', string | undefined>> {
  readonly since?: string | undefined;
  /** Only entries before this time. */
  readonly until?: string | undefined;
  /** Only entries older than this one, the last of the previous page. */
  readonly after?: NumberedEntry | undefined;
  readonly limit: number;
}

/** The audit log. Each change adds its own entry, in the same transaction. */
export interface AuditLog {
  /** Newest first. */
  listAudit(query: AuditQuery): Promise<readonly NumberedEntry[]>;
  /** Adds an entry about a feed, which changes records in many transactions. */
  addAudit(entry: AuditEntry): Promise<void>;
}

export interface Store extends Served, Reads, Accounts, Imports, Receipts, AuditLog {
  readonly environment: Environment;
  readonly metrics: readonly Metric[];
  /** Adds a key that will seal cursors. Old keys open cursors until they expire, or are deleted now. */
  rotateCursorKey(old: 'keep' | 'discard', by: Author): Promise<CursorKeyRotation>;
  /** Partners and their keys, to move them to another database. */
  partnersWithKeys(): Promise<readonly PartnerWithKeys[]>;
  /**
   * Atomic. Existing partners are renamed; disabling, expiry and revocation are applied but never undone.
   * Rejects with AlreadyExists if a key belongs to another partner. `try` counts and rolls back.
   */
  writePartnersWithKeys(
    partners: readonly PartnerWithKeys[],
    by: Author,
    mode: 'keep' | 'try',
  ): Promise<MoveCounts>;
  /**
   * Exports a snapshot of all records in the order of their ids, one line of JSON each, as an import reads
   * them. Waits for each `write` before it reads on.
   */
  exportRecords(selection: ExportSelection, write: (lines: string) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/**
 * Placeholder in a stored brand for the public address of the instance that answers. It is a control
 * character, which no valid string contains.
 */
export const publicAddressMark = '\u0001';
