/** What the service asks of storage, and no more. Every engine passes the same suite. */
import type { Environment } from '@partner-network/contract/environments';
import type { Operation } from '@partner-network/contract/operations';
import type { Scope } from '@partner-network/contract/scopes';
import type { Metric } from '../observability/metric.ts';

/** The engine cannot answer now: unreachable, locked, out of disk. The caller gets a 503. */
export class StoreUnavailable extends Error {}

/** Something with that id exists already. */
export class AlreadyExists extends Error {}

/** One page, its records rendered and joined by commas, and where the next one starts, if there is one. */
export interface Page {
  readonly records: string;
  /** How long they are where they are stored: as many bytes as characters when all of them are ASCII. */
  readonly bytes: number;
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
  /** Records after this id, in byte order; the empty string comes before all. */
  readonly after: string;
  readonly limit: number;
}

export interface BrandsQuery extends PageQuery {
  readonly partnerId: string;
  readonly referenceId: string | undefined;
  /** The `walPosition` of the page before. A replica that has not replayed up to it is not used. */
  readonly walPosition?: bigint | undefined;
}

export interface BalancesQuery extends PageQuery {
  readonly partnerId: string;
  readonly customerId: string;
  readonly type: string;
  readonly grantId: string | undefined;
  /** The time at which the grant must be unexpired. */
  readonly at: string;
}

export const grantStatuses = ['ACTIVE', 'CONSUMED', 'REVOKED', 'EXPIRED'] as const;
type GrantStatus = (typeof grantStatuses)[number];

/** A page only under an active grant; otherwise what is wrong with the grant. */
export type BalancesAnswer =
  | { readonly grant: 'ACTIVE'; readonly grantId: string; readonly page: Page }
  | { readonly grant: Exclude<GrantStatus, 'ACTIVE'> | 'NOT_FOUND' };

export interface CursorKey {
  /** 0 to 255: a cursor names the key that sealed it. */
  readonly id: number;
  readonly secret: Uint8Array;
  readonly created_at: string;
  /** One seals. Newer ones will, and older ones did; all of them open. */
  readonly status: 'waiting' | 'sealing' | 'opening';
  /** When one that waits will seal. */
  readonly seals_from?: string;
  /** When it opens no more; absent where no newer one is there. */
  readonly opens_until?: string;
}

export interface CursorKeyRotation {
  readonly key: CursorKey;
  /** Those that open cursors for a while yet. */
  readonly retired: readonly CursorKey[];
  /** The ids of those that were thrown away though they still opened cursors. */
  readonly discarded: readonly number[];
}

/** What a request needs. Keys, grants and balances as they are now; only brands may be a moment behind. */
export interface Reads extends Record<Operation['id'], (query: never) => Promise<unknown>> {
  findKey(digest: Uint8Array): Promise<KeyOnFile | undefined>;
  listBrands(query: BrandsQuery): Promise<Page>;
  listBalances(query: BalancesQuery): Promise<BalancesAnswer>;
  /** Those that live by the database's clock: the one that seals first, then the others, newest first. */
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
  /** The last characters of the key, enough to tell keys apart and too few to use. */
  readonly last_four: string;
  readonly created_at: string;
  readonly expires_at?: string;
  readonly revoked_at?: string;
}

/** A type and not an interface: it is an import row, too. */
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

/** What an operator does to partners, keys and grants. */
export interface Accounts {
  createPartner(partner: Partner): Promise<void>;
  findPartner(id: string): Promise<Partner | undefined>;
  listPartners(): Promise<readonly Partner[]>;
  /** Undefined enables. */
  setPartnerDisabled(id: string, at: string | undefined): Promise<void>;

  createKey(key: ApiKey, digest: Uint8Array): Promise<void>;
  findKeyById(id: string): Promise<ApiKey | undefined>;
  listKeys(partnerId: string): Promise<readonly ApiKey[]>;
  revokeKey(id: string, at: string): Promise<void>;
  /** Puts the new key in the old one's place: both or neither. */
  rotateKey(oldId: string, oldExpiresAt: string, key: ApiKey, digest: Uint8Array): Promise<void>;

  createGrant(grant: Grant): Promise<void>;
  /** An id is unique within its customer only, so there may be several. */
  findGrants(id: string): Promise<readonly Grant[]>;
  listGrants(partnerId: string, customerId: string | undefined): Promise<readonly Grant[]>;
  revokeGrant(customerId: string, id: string, at: string): Promise<void>;
}

export interface Rotations {
  /** Adds a key that will seal cursors. The old ones open them until they expire, or are thrown away now. */
  rotateCursorKey(old: 'keep' | 'discard'): Promise<CursorKeyRotation>;
}

export type ImportKind = 'brands' | 'balances' | 'grants';

/**
 * A record that was checked against its schema, by field; metadata is JSON with sorted keys, so that equal
 * metadata is equal text.
 */
export type ImportRow = Readonly<Record<string, string | number | undefined>>;

export interface ImportCounts {
  readonly written: number;
  readonly unchanged: number;
}

/** Rows that are staged apart, for as long as it takes, and then written together: all of them or none. */
export interface ImportRun {
  stage(rows: readonly ImportRow[]): Promise<void>;
  /**
   * Writes what was staged in one transaction, or only tries what that would do. After what is kept nothing
   * is staged any more, so that one run can stage and write again and again.
   */
  write(mode: 'keep' | 'try'): Promise<ImportCounts>;
  /** Forgets what was staged, and lets go of what it locked. Once more does nothing. */
  end(): Promise<void>;
}

/** Fast: rows come as fast as they are taken, as from a file, so that they may be kept locked meanwhile. */
export type ImportPace = 'fast' | 'slow';

export interface Imports {
  beginImport(kind: ImportKind, pace?: ImportPace): Promise<ImportRun>;
}

export interface ExportSelection {
  readonly kind: ImportKind;
  /** Whose brands; of the other kinds all are exported. */
  readonly partnerId: string;
}

export interface Exports {
  /**
   * Gives all records as they stand at one moment, each a line of JSON that an import takes back, in the
   * order of their ids. Goes on when what was given last has been written.
   */
  exportRecords(selection: ExportSelection, write: (lines: string) => Promise<void>): Promise<void>;
}

/** A partner with all its keys. Of a key only its digest is known, which opens nothing, in hex digits. */
export interface PartnerWithKeys extends Partner {
  readonly keys: readonly (Omit<ApiKey, 'partner_id'> & { readonly digest: string })[];
}

/** What takes partners and their keys from one database to another. */
export interface Moves {
  partnersWithKeys(): Promise<readonly PartnerWithKeys[]>;
  /**
   * All of them or none. Who is there already gets the name, and is disabled, expires or is revoked if the
   * given one is; the reverse never happens, and a key of another partner's is a conflict.
   */
  writePartnersWithKeys(partners: readonly PartnerWithKeys[]): Promise<void>;
}

/** That a partner asked for a customer's balances, and what came of it; nothing of the balances. */
export interface Receipt {
  readonly at: string;
  readonly request_id: string;
  readonly partner_id: string;
  readonly key_id: string;
  /** Absent where the request named none, or what can be none. */
  readonly customer_id?: string;
  /** The grant that was used, or else the one that was asked for. */
  readonly grant_id?: string;
  /** GRANTED, or the code of the error. */
  readonly outcome: string;
}

export interface ReceiptsQuery {
  readonly partnerId?: string | undefined;
  /** Asked for together with its partner, whose receipts are searched for it. */
  readonly keyId?: string | undefined;
  readonly customerId?: string | undefined;
  readonly since?: string | undefined;
  /** Only those that come after this one, which is to say the older ones. */
  readonly after?: Receipt | undefined;
  readonly limit: number;
}

export interface KeyUse {
  readonly keyId: string;
  /** To the minute. */
  readonly usedAt: string;
}

/** What is written off the path of requests, in batches. */
export interface ReceiptWrites {
  /** Each is kept once, however often it is given. */
  recordReceipts(receipts: readonly Receipt[]): Promise<void>;
  /** Each key once. An earlier use than the one on record changes nothing. */
  recordKeyUses(uses: readonly KeyUse[]): Promise<void>;
}

export interface Receipts extends ReceiptWrites {
  /** Newest first. */
  listReceipts(query: ReceiptsQuery): Promise<readonly Receipt[]>;
  countReceipts(olderThan: string): Promise<number>;
  /** Removes a few thousand of them, the oldest first, and says how many; none are left when it says 0. */
  pruneReceipts(olderThan: string): Promise<number>;
  /** When a key was last used, by its id; one that never was is left out. */
  lastUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export interface Migration {
  readonly from: number;
  readonly to: number;
}

export interface Store extends Reads, Accounts, Rotations, Moves, Imports, Exports, Receipts {
  readonly environment: Environment;
  readonly metrics: readonly Metric[];
  /** What opening it did to its schema. */
  readonly migration: Migration;
  close(): Promise<void>;
}

/**
 * Stands in a stored brand where the public address of whoever answers goes. A control character: no string
 * of ours may hold one, so it can be nothing else.
 */
export const publicAddressMark = '\u0001';
