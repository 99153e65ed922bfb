/** The storage port: what the service needs of a database. Every engine passes the same test suite. */
import type { Metric } from '@partner-network/common/observability/metric';
import type { Environment } from '@partner-network/contract/environments';
import type { ListingOperation } from '@partner-network/contract/operations';
import type { Scope } from '@partner-network/contract/permissions';
import type { Accounts, AdminKeys, ApiKey, GrantStatus, Grants, Limits, Partner } from './accounts.ts';
import { StoreUnavailable } from './errors.ts';
import type { AuditLog, Author, Journal } from './journal.ts';

export * from './accounts.ts';
export * from './errors.ts';
export * from './journal.ts';

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
  /** The partner's own rate limits. */
  readonly limits: Limits;
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

/**
 * The reads of a request. Keys, grants and balances are as they were when the request arrived, or newer.
 * Brands may be up to a second old.
 */
export interface Reads extends Record<ListingOperation['id'], (query: never) => Promise<unknown>> {
  findKey(digest: Uint8Array): Promise<KeyOnFile | undefined>;
  listBrands(query: BrandsQuery): Promise<Page>;
  listBalances(query: BalancesQuery): Promise<BalancesAnswer>;
  /** Keys that are in use by the database's clock: the sealing key first, then the others, newest first. */
  cursorKeys(): Promise<readonly CursorKey[]>;
  /** Resolves if requests can be answered, to a sentence for each part of the database that does not work. */
  ping(): Promise<readonly string[]>;
}

export type ImportKind = 'brands' | 'balances' | 'grants';

/**
 * A validated line by field, with its number in `line`. Metadata is JSON with sorted keys, so that equal
 * metadata is equal text. A row with `deleted_at` deletes a brand or a balance. `is_timed` is 1 if the line
 * gives `updated_at`. It is 0 if `updated_at` is the time of the import. For grants, an absent `status` or
 * `expires_at` keeps the stored value, and an empty `expires_at` stands for null.
 */
export type ImportRow = Readonly<Record<string, string | number | undefined>>;

/** Stale lines are older than what is stored, so they are not written. */
export type ImportCounts = Readonly<Record<'written' | 'unchanged' | 'stale' | 'deleted', number>>;

/** A line that the stored records do not allow. */
export interface RefusedLine {
  readonly line: number;
  /** The line would change a fixed field of a grant, or has no time and its customer was erased. */
  readonly code: 'IMMUTABLE_FIELD' | 'CUSTOMER_ERASED';
  readonly field: string;
}

export interface ImportResult extends ImportCounts {
  /** In the order of their lines. */
  readonly rejected: readonly RefusedLine[];
}

export interface ImportWrite {
  /** `try` counts and rolls back. `keep` commits and clears the staged rows, so that the run can go on. */
  readonly mode: 'keep' | 'try';
  /** Write the other rows even if some are rejected. Otherwise nothing is written. */
  readonly skipsRejected?: boolean;
  /** Adds an entry to the audit log if a record was written or deleted. */
  readonly audit?: ImportAudit | undefined;
  /** Called if lines are rejected, before the commit. If it throws, nothing is written. */
  onRejected?(rejected: readonly RefusedLine[]): Promise<void> | void;
  /** Called when all is written and the commit begins. */
  onCommit?(): void;
}

/** Whether a write commits its records, of which a number is rejected. */
export function commits({ mode, skipsRejected }: ImportWrite, rejected: number): boolean {
  return mode === 'keep' && (rejected === 0 || skipsRejected === true);
}

export interface ImportAudit extends Author {
  readonly target: string;
  /** The name of the file, without its folder. */
  readonly source: string;
  readonly startedMs: number;
  /** The number of lines that were rejected before they were staged. */
  readonly rejected?: number;
}

/** An import: rows are staged first, which may take long, and then written in one transaction. */
export interface ImportRun {
  stage(rows: readonly ImportRow[]): Promise<void>;
  /** How many stored records were not staged, and how many are stored. Needs `deletesMissing`. */
  countMissing(): Promise<Missing>;
  /** Writes the staged rows in one transaction. */
  write(options: ImportWrite): Promise<ImportResult>;
  /** Prevents the commit and returns true. Returns false if the commit has begun: then wait for `write`. */
  prevent(): boolean;
  /** Drops the staged rows, cancels a running statement and releases all locks. Safe to call twice. */
  end(): Promise<void>;
}

/** The connection was lost during a commit. Nobody knows whether the records were written. */
export class UncertainCommit extends StoreUnavailable {}

/**
 * Records of the partners that the rows name, for brands; otherwise all records. `share` is the part that is
 * missing, from 0 to 1, for brands that of the partner with the largest one.
 */
export type Missing = Readonly<Record<'missing' | 'stored' | 'share', number>>;

export interface ImportBegin {
  /**
   * Fast: rows come from a file, so tables may stay locked until the end. Slow: rows come from a pipe. Feed:
   * the same, and a lock of another command fails with StoreLocked, so that the feed can report it and retry.
   */
  readonly pace?: 'fast' | 'slow' | 'feed';
  /** Delete the brands or balances that were not staged and are not newer than the start of the import. */
  readonly deletesMissing?: boolean;
  /** Older lines replace newer records, and get the time of the import. */
  readonly overwrites?: boolean;
  /** Descriptor of a file that gets lines that take the import back. It is on disk before the commit. */
  readonly undoFile?: number | undefined;
  /** Called repeatedly while the import waits for another command, with a sentence about it. */
  onWait?(what: string): void;
}

export interface Imports {
  /** How many runs can be open at once on one store. */
  readonly runsAtOnce: number;
  beginImport(kind: ImportKind, options?: ImportBegin): Promise<ImportRun>;
}

export interface ExportSelection {
  readonly kind: ImportKind | 'erasures';
  /** The owner of the brands. Absent: all brands, each with its `partner_id`. Other kinds have no owner. */
  readonly partnerId?: string | undefined;
}

/** A partner with all its keys. A key's digest is in hex digits; the key itself is never stored. */
export interface PartnerWithKeys extends Partner {
  readonly keys: readonly (Omit<ApiKey, 'partner_id'> & { readonly digest: string })[];
}

/** What happened to the partners and keys of a file. */
export type MoveCounts = Readonly<Record<'created' | 'changed' | 'unchanged', MovedCounts>> & {
  /** The ids of keys that keep other scopes or an earlier expiry than the file has. */
  readonly not_applied: readonly string[];
};
export type MovedCounts = Readonly<Record<'partners' | 'keys', number>>;

/** The schema versions before and after, and, on Citus, the tables that are and are not distributed. */
export interface Migration {
  readonly from: number;
  readonly to: number;
  readonly distributed?: readonly string[];
  readonly local?: readonly string[];
}

/** A key that will stop working, and whether a newer key replaces it. */
export type ExpiringKey = Pick<ApiKey, 'id' | 'partner_id'> & {
  readonly expires_at: string;
  readonly isReplaced: boolean;
};

/** Whose keys: those of partners, or those of the administrative service. */
export type KeyOwner = 'partners' | 'administration';

export interface Store extends Reads, Accounts, Grants, AdminKeys, Imports, Journal, AuditLog {
  readonly environment: Environment;
  /** The path of the embedded database; host and name of a Postgres database. */
  readonly location: string;
  /** What opening the database did to its schema. */
  readonly migration: Migration;
  /** When the first key expires of those that work at this time. Undefined if none expires. */
  firstExpiry(of: KeyOwner, at: string): Promise<string | undefined>;
  /** The first keys of partners that work at a time and not at a later one, those to replace first. */
  expiringKeys(at: string, until: string): Promise<readonly ExpiringKey[]>;
  /**
   * Adds an entry to the audit log and rolls it back: what fails this fails every change. Rejects with
   * StoreLocked if another process holds a lock, which says nothing about changes.
   */
  tryWrite(): Promise<void>;
  /** The number of other instances that serve this database. Only Postgres knows. */
  otherInstances?(): Promise<number>;
  /**
   * Reports what happened if the files of the database are replaced or removed, and undefined if they are
   * back. Only the embedded database has files, and only `serve`, `admin` and feeds watch them.
   */
  onFileFailure?(listener: (failure: string | undefined) => void): void;
  readonly metrics: readonly Metric[];
  /** Adds a key that will seal cursors. Old keys open cursors until they expire, or are deleted now. */
  rotateCursorKey(old: 'keep' | 'discard', by: Author): Promise<CursorKeyRotation>;
  /** Partners and their keys, to move them to another database. */
  partnersWithKeys(): Promise<readonly PartnerWithKeys[]>;
  /**
   * Atomic. Existing partners are renamed; disabling, expiry and revocation are applied but never undone.
   * Only a new partner gets its limits.
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
