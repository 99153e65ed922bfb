/** What a change of a partner's key means, for the command line and for the administrative API. */
import { toTime } from '@partner-network/common/times';
import type { Scope } from '@partner-network/contract/scopes';
import { digestOfKey, environmentOfKey, newApiKey } from '@partner-network/service/auth/api-key';
import {
  AlreadyExists,
  type AnyKey,
  type ApiKey,
  type Author,
  type Store,
} from '@partner-network/store/port';
import { IdConflict, isPast, Missing, requireFuture } from './errors.ts';
import { requirePartner } from './partners.ts';

export async function requireKey(store: Pick<Store, 'findKeyById'>, id: string): Promise<ApiKey> {
  const key = await store.findKeyById(id);
  if (key !== undefined) return key;
  throw new Missing('key', id, '"partner-network keys list" lists all keys.');
}

export interface NewKey {
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
  const secret = newApiKey(store.environment);
  const key: ApiKey = {
    id,
    partner_id: partnerId,
    ...(name !== undefined && { name }),
    scopes: [...new Set(given.scopes)].toSorted(),
    last_four: secret.slice(-4),
    created_at: toTime(Date.now()),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
  await store.createKey(key, digestOfKey(secret), by);
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

export interface Rotation {
  readonly id: string;
  readonly replaces: string;
  readonly overlapSeconds: number;
  readonly expiresAt: string | undefined;
}

/** The key to replace does not work any more. */
export class KeyNotActive extends Error {
  readonly status: string;

  constructor(status: string) {
    super(`The key is ${status}.`);
    this.status = status;
  }
}

/** Replaces a key, or finds the new key of this rotation. Safe to repeat. */
export async function putRotation(store: Store, given: Rotation, by: Author): Promise<Issued> {
  const { id, replaces, overlapSeconds, expiresAt } = given;
  const old = await requireKey(store, replaces);
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
  const status = keyStatus(old);
  if (status !== 'active') throw new KeyNotActive(status);
  const secret = newApiKey(store.environment);
  const replacement = { id, last_four: secret.slice(-4), digest: digestOfKey(secret), expiresAt };
  const details = { ...by.details, overlap_seconds: overlapSeconds, asked_expiry: expiresAt };
  try {
    const overlapMs = overlapSeconds * 1_000;
    const rotated = await store.rotateKey(replaces, { ...replacement, overlapMs }, { ...by, details });
    if (rotated !== undefined) return { key: rotated.key, secret };
    // The same request at the same time may have replaced the key.
    if ((await store.findKeyById(id)) !== undefined) return await putRotation(store, given, by);
    throw new KeyNotActive(keyStatus(await requireKey(store, replaces)));
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
    return putRotation(store, given, by);
  }
}

/** Safe to repeat. */
export async function revokeKey(store: Store, id: string, by: Author): Promise<ApiKey> {
  await requireKey(store, id);
  await store.revokeKey(id, toTime(Date.now()), by);
  return requireKey(store, id);
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
