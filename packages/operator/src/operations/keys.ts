/** What a change of a key means, for the command line and for the administrative API. */
import { ConclusiveError } from '@partner-network/common/errors';
import { isPast, toTime } from '@partner-network/common/times';
import { adminKeyPrefixes, type KeyPrefixes, keyPrefixes } from '@partner-network/contract/environments';
import type { Scope } from '@partner-network/contract/permissions';
import { capitalized } from '@partner-network/contract/sentence';
import { digestOfKey, environmentOfKey, newAdminKey, newApiKey } from '@partner-network/service/auth';
import {
  type AdminKey,
  AlreadyExists,
  type AnyKey,
  type ApiKey,
  type Author,
  type Replacement,
  type Rotated,
  type Store,
} from '@partner-network/store/port';
import { IdConflict, Missing, requireFuture } from './errors.ts';
import { requirePartner } from './partners.ts';

export async function requireKey(store: Pick<Store, 'findKeyById'>, id: string): Promise<ApiKey> {
  const key = await store.findKeyById(id);
  if (key !== undefined) return key;
  throw new Missing('key', id, '"partner-network keys list" lists all keys.');
}

export interface KeyKind<Key extends AnyKey> {
  /** The word before "create", "revoke" and so on. */
  readonly group: 'keys' | 'admin-keys';
  readonly noun: string;
  readonly idPrefix: string;
  readonly prefixes: KeyPrefixes;
  readonly newText: typeof newApiKey;
  /** What distinguishes a new key, for the report. */
  shown(key: Key): object;
  require(store: Store, id: string): Promise<Key>;
  revoke(store: Store, id: string, at: string, by: Author): Promise<boolean>;
  rotate(store: Store, oldId: string, given: Replacement, by: Author): Promise<Rotated<Key> | undefined>;
}

export const apiKeys: KeyKind<ApiKey> = {
  group: 'keys',
  noun: 'key',
  idPrefix: 'KEY',
  prefixes: keyPrefixes,
  newText: newApiKey,
  shown: ({ partner_id, scopes }) => ({ partner_id, scopes }),
  require: requireKey,
  revoke: (store, id, at, by) => store.revokeKey(id, at, by),
  rotate: (store, oldId, given, by) => store.rotateKey(oldId, given, by),
};

export const adminKeys: KeyKind<AdminKey> = {
  group: 'admin-keys',
  noun: 'administrative key',
  idPrefix: 'ADMIN_KEY',
  prefixes: adminKeyPrefixes,
  newText: newAdminKey,
  shown: ({ name, role }) => ({ name, role }),
  require: async (store, id) => {
    const key = await store.findAdminKeyById(id);
    if (key !== undefined) return key;
    throw new Missing('administrative key', id, '"partner-network admin-keys list" lists all of them.');
  },
  revoke: (store, id, at, by) => store.revokeAdminKey(id, at, by),
  rotate: (store, oldId, given, by) => store.rotateAdminKey(oldId, given, by),
};

/** A new key's text, and what is stored of it. */
export function newSecret({ newText }: KeyKind<AnyKey>, { environment }: Store) {
  const secret = newText(environment);
  return { secret, last_four: secret.slice(-4), digest: digestOfKey(secret) };
}

interface NewKey {
  readonly id: string;
  readonly partnerId: string;
  readonly scopes: readonly Scope[];
  readonly name: string | undefined;
  readonly expiresAt: string | undefined;
}

/** A key that was issued, or that was found because the request was repeated: then without its secret. */
export interface Issued {
  readonly key: ApiKey;
  readonly secret?: string;
}

/** Creates a key. Rejects with AlreadyExists if the id is taken. */
export async function createKey(store: Store, given: NewKey, by: Author): Promise<Required<Issued>> {
  const { id, partnerId, name, expiresAt } = given;
  await requirePartner(store, partnerId);
  requireFuture(expiresAt);
  const { secret, last_four, digest } = newSecret(apiKeys, store);
  const key: ApiKey = {
    id,
    partner_id: partnerId,
    ...(name !== undefined && { name }),
    scopes: [...new Set(given.scopes)].toSorted(),
    last_four,
    created_at: toTime(Date.now()),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
  await store.createKey(key, digest, by);
  return { key: { ...key, created_by: by.actor }, secret };
}

/** Creates the key, or finds it as this request has created it. Safe to repeat. */
export async function putKey(store: Store, given: NewKey, by: Author): Promise<Issued> {
  const stored = await store.findKeyById(given.id);
  if (stored === undefined) {
    try {
      return await createKey(store, given, by);
    } catch (error) {
      // Another request has created it meanwhile.
      if (!(error instanceof AlreadyExists)) throw error;
      return putKey(store, given, by);
    }
  }
  // The expiry may have moved since: the entry of its creation has the first one.
  const [entry] = await store.auditOf(by.action, [given.id]);
  const isSame =
    entry !== undefined &&
    stored.partner_id === given.partnerId &&
    stored.name === given.name &&
    stored.scopes.join() === given.scopes.toSorted().join() &&
    (entry.details.expires_at ?? undefined) === given.expiresAt;
  if (!isSame) throw new IdConflict('a key with this id exists, and was created in another way');
  return { key: stored };
}

interface Rotation {
  readonly id: string;
  readonly replaces: string;
  readonly overlapSeconds: number;
  readonly expiresAt: string | undefined;
}

/** The key to replace does not work any more. */
export class KeyNotActive extends ConclusiveError {
  readonly status: string;

  constructor({ noun, group }: KeyKind<AnyKey>, id: string, status: string) {
    const remedy = `Create a key with "partner-network ${group} create".`;
    super(`${capitalized(noun)} ${id} is ${status} and cannot be rotated. ${remedy}`);
    this.status = status;
  }
}

/** Issues a key that replaces another. */
export async function rotate<Key extends AnyKey>(
  kind: KeyKind<Key>,
  store: Store,
  oldId: string,
  given: Omit<Replacement, 'last_four' | 'digest'>,
  by: Author,
): Promise<Rotated<Key> & { readonly secret: string }> {
  const { secret, ...stored } = newSecret(kind, store);
  const rotated = await kind.rotate(store, oldId, { ...given, ...stored }, by);
  if (rotated !== undefined) return { ...rotated, secret };
  throw new KeyNotActive(kind, oldId, keyStatus(await kind.require(store, oldId)));
}

/** Replaces a key, or finds the new key of this rotation. Safe to repeat. */
export async function putRotation(store: Store, given: Rotation, by: Author): Promise<Issued> {
  const { id, replaces, overlapSeconds, expiresAt } = given;
  await requireKey(store, replaces);
  const stored = await store.findKeyById(id);
  if (stored !== undefined) {
    const entries = await store.auditOf(by.action, [replaces]);
    const isSame = entries.some(
      ({ details }) =>
        details.new_key_id === id &&
        details.overlap_seconds === overlapSeconds &&
        (details.asked_expiry ?? undefined) === expiresAt,
    );
    if (!isSame) throw new IdConflict('a key with this id exists, and was created in another way');
    return { key: stored };
  }
  const replacement = { id, overlapMs: overlapSeconds * 1_000, expiresAt };
  const details = { ...by.details, overlap_seconds: overlapSeconds, asked_expiry: expiresAt };
  try {
    const { key, secret } = await rotate(apiKeys, store, replaces, replacement, { ...by, details });
    return { key, secret };
  } catch (error) {
    // The same request at the same time may have replaced the key.
    const mayBeSame = error instanceof AlreadyExists || error instanceof KeyNotActive;
    if (!mayBeSame || (await store.findKeyById(id)) === undefined) throw error;
    return putRotation(store, given, by);
  }
}

/** Safe to repeat. */
export async function revoke<Key extends AnyKey>(
  kind: KeyKind<Key>,
  store: Store,
  id: string,
  by: Author,
): Promise<Key> {
  await kind.require(store, id);
  await kind.revoke(store, id, toTime(Date.now()), by);
  return kind.require(store, id);
}

/** The stored key with this text, if it is a key of this environment. */
export async function findKeyByText(store: Store, text: string): Promise<ApiKey | undefined> {
  if (environmentOfKey(text) !== store.environment) return undefined;
  const found = await store.findKey(digestOfKey(text));
  return found && store.findKeyById(found.id);
}

/** A key that is both revoked and expired is reported as revoked. */
export function keyStatus({ revoked_at, expires_at }: AnyKey): 'active' | 'revoked' | 'expired' {
  if (revoked_at !== undefined) return 'revoked';
  return isPast(expires_at) ? 'expired' : 'active';
}
