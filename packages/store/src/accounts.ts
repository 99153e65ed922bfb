/** The part of the storage port for operators: partners, their keys, grants, and administrative keys. */
import type { ListingName } from '@partner-network/contract/operations';
import type { AdminRole, Scope } from '@partner-network/contract/permissions';
import type { Brand as BrandRecord } from '@partner-network/contract/records';
import type { Author } from './journal.ts';

export const grantStatuses = ['ACTIVE', 'CONSUMED', 'REVOKED', 'EXPIRED'] as const;
export type GrantStatus = (typeof grantStatuses)[number];

/** A partner's own rate limits, in requests per second. The default applies to a listing that is absent. */
export type Limits = Readonly<Partial<Record<ListingName, number>>>;

export interface Partner {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly disabled_at?: string;
  /** Absent if all defaults apply. */
  readonly limits?: Limits;
}

/** What is stored of a key, of a partner or of the administrative service. */
export interface AnyKey {
  readonly id: string;
  readonly name?: string;
  /** The last characters of the key, to distinguish keys in a list. */
  readonly last_four: string;
  readonly created_at: string;
  /** Who created it. Absent on keys of older versions. */
  readonly created_by?: string;
  readonly expires_at?: string;
  readonly revoked_at?: string;
}

export interface ApiKey extends AnyKey {
  readonly partner_id: string;
  readonly scopes: readonly Scope[];
}

/** What a new key does not take over from the key that it replaces. */
export interface Replacement extends Pick<AnyKey, 'id' | 'last_four'> {
  readonly digest: Uint8Array;
  /** How long the old key still works. With 0 it is revoked. */
  readonly overlapMs: number;
  /** By default the new key gets the lifetime of the old one, counted from now. */
  readonly expiresAt?: string | undefined;
}

/** The old key as it is stored now, and the new one. */
export type Rotated<Key extends AnyKey> = Readonly<Record<'old' | 'key', Key>>;

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

/** What operators see of a brand: its record without the metadata. */
export type Brand = Readonly<Omit<BrandRecord, 'metadata'> & Pick<ApiKey, 'partner_id'>>;

/** A page of a list in order: the records after the last one of the previous page. */
export interface PageOf<R> {
  readonly after?: R | undefined;
  readonly limit: number;
}

/** Needs a partner, a customer or both. */
export interface GrantsQuery {
  readonly partnerId?: string | undefined;
  readonly customerId?: string | undefined;
  /** Only together with the customer. */
  readonly grantId?: string | undefined;
  /** Only grants after this one, the last of the previous page. */
  readonly after?: Pick<Grant, 'customer_id' | 'id'> | undefined;
  readonly limit?: number | undefined;
  /** The status at this time: an active grant past its expiry counts as expired. */
  readonly status?: GrantStatus | undefined;
  readonly at: string;
}

/** The numbers of records that were deleted. */
export type Erasure = Readonly<Record<'balances' | 'grants', number>>;

/** The memory that a customer was erased. */
export interface ErasedCustomer {
  readonly customer_id: string;
  readonly erased_at: string;
}

/**
 * Partners and their keys, as operators manage them. Each change writes an audit entry in the same
 * transaction. A change that finds nothing to do writes none, and returns false or undefined.
 */
export interface Accounts {
  createPartner(partner: Partner, by: Author): Promise<void>;
  findPartner(id: string): Promise<Partner | undefined>;
  /** The names of those that exist, by id. */
  partnerNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** All partners, or a page of them. */
  listPartners(page?: PageOf<Pick<Partner, 'id'>>): Promise<readonly Partner[]>;
  /** Enables the partner if `at` is undefined. A partner that is disabled twice keeps the first time. */
  setPartnerDisabled(id: string, at: string | undefined, by: Author): Promise<boolean>;
  /** Does nothing if the name is not `from`: somebody else has changed it. */
  renamePartner(id: string, from: string, to: string, by: Author): Promise<boolean>;

  /** Null removes a limit, so that the default applies. An absent limit stays. */
  limitPartner(
    id: string,
    limits: Readonly<Partial<Record<ListingName, number | null>>>,
    by: Author,
  ): Promise<boolean>;

  /** Stores the author as `created_by`. */
  createKey(key: ApiKey, digest: Uint8Array, by: Author): Promise<void>;
  findKeyById(id: string): Promise<ApiKey | undefined>;
  /** The keys of one partner, or all keys; or a page of them. */
  listKeys(
    partnerId: string | undefined,
    page?: PageOf<Pick<ApiKey, 'partner_id' | 'id'>>,
  ): Promise<readonly ApiKey[]>;
  revokeKey(id: string, at: string, by: Author): Promise<boolean>;
  /**
   * Issues a key with the old key's partner, name, scopes and lifetime. The old key's expiry never moves to a
   * later time. Issues nothing if the old key does not work any more, also if it was revoked a moment ago.
   * Rejects with ExpiryNotInFuture if the new key would never work.
   */
  rotateKey(oldId: string, replacement: Replacement, by: Author): Promise<Rotated<ApiKey> | undefined>;

  /** Brand ids are unique per partner, so several brands can have the same id. */
  findBrands(id: string): Promise<readonly Brand[]>;
}

/** Grants and customers. Changes write audit entries as those of accounts do. */
export interface Grants {
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
  /** Whether the customer was erased. Newer records may exist since. */
  isErased(customerId: string): Promise<boolean>;
  /**
   * Atomic. Repeats erasures of another database: deletes the records that are not newer than the erasure,
   * and remembers it, also if nothing is stored of the customer. A stored time never moves back. `erased`
   * is the number of erasures that changed something.
   */
  importErasures(
    customers: readonly ErasedCustomer[],
    by: Author,
  ): Promise<Erasure & Readonly<Record<'erased', number>>>;
}

export interface AdminKey extends AnyKey {
  readonly name: string;
  readonly role: AdminRole;
}

/** What a request needs of its key. */
export interface AdminKeyOnFile {
  readonly id: string;
  readonly role: AdminRole;
  readonly expiresAt: string | undefined;
  readonly isRevoked: boolean;
}

/** As for the keys of partners: each change writes an audit entry, and access only shrinks. */
export interface AdminKeys {
  createAdminKey(key: AdminKey, digest: Uint8Array, by: Author): Promise<void>;
  /** An unknown key costs as much as a known one. */
  findAdminKey(digest: Uint8Array): Promise<AdminKeyOnFile | undefined>;
  findAdminKeyById(id: string): Promise<AdminKey | undefined>;
  listAdminKeys(): Promise<readonly AdminKey[]>;
  revokeAdminKey(id: string, at: string, by: Author): Promise<boolean>;
  /** As `rotateKey`: the new key has the old key's name, role and lifetime. */
  rotateAdminKey(oldId: string, replacement: Replacement, by: Author): Promise<Rotated<AdminKey> | undefined>;

  /**
   * Sessions of the console are in cookies. Remembers a session that is ended early, until `endsAt`, when it
   * ends by itself. Forgets those that are past their end. False if it was ended before.
   */
  endSession(digest: Uint8Array, endsAt: string): Promise<boolean>;
  isSessionEnded(digest: Uint8Array): Promise<boolean>;
  /** The key that seals sessions. */
  sessionKeys(): Promise<readonly { readonly id: number; readonly secret: Uint8Array }[]>;
}
