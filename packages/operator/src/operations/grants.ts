/** What a change of a grant means, for the command line and for the administrative API. */
import { isPast, toTime } from '@partner-network/common/times';
import {
  AlreadyExists,
  type Author,
  type Grant,
  type GrantsQuery,
  type Store,
} from '@partner-network/store/port';
import { IdConflict, Missing, requireFuture } from './errors.ts';
import { requirePartner } from './partners.ts';

export interface NewGrant {
  readonly id: string;
  readonly partnerId: string;
  readonly customerId: string;
  readonly expiresAt: string | undefined;
}

/** Rejects with AlreadyExists if the customer has a grant with this id. */
export async function createGrant(store: Store, given: NewGrant, by: Author): Promise<Grant> {
  const { id, partnerId, customerId, expiresAt } = given;
  await requirePartner(store, partnerId);
  requireFuture(expiresAt);
  const now = toTime(Date.now());
  const grant: Grant = {
    id,
    partner_id: partnerId,
    customer_id: customerId,
    action: 'CHECKING_BALANCE',
    status: 'ACTIVE',
    expires_at: expiresAt,
    created_at: now,
    updated_at: now,
  };
  await store.createGrant(grant, by);
  return grant;
}

/** Creates the grant, or finds it as it was created. Safe to repeat. */
export async function putGrant(
  store: Store,
  given: NewGrant,
  by: Author,
): Promise<{ readonly isNew: boolean; readonly grant: Grant }> {
  const stored = await findGrant(store, given.customerId, given.id);
  if (stored === undefined) {
    try {
      return { isNew: true, grant: await createGrant(store, given, by) };
    } catch (error) {
      // Another request has created it meanwhile.
      if (!(error instanceof AlreadyExists)) throw error;
      return putGrant(store, given, by);
    }
  }
  if (stored.partner_id !== given.partnerId || stored.expires_at !== given.expiresAt) {
    throw new IdConflict('the customer has a grant with this id and other content');
  }
  // Not the current status: a request whose expiry has passed since is answered like the first.
  const { status } = stored;
  if (status !== 'ACTIVE') throw new IdConflict(`this grant is ${status}, which is final`);
  return { isNew: false, grant: stored };
}

/** With its customer, a grant is found while another node of the database is down. */
export async function findGrant(store: Store, customerId: string, id: string): Promise<Grant | undefined> {
  return (await store.listGrants({ customerId, grantId: id, at: toTime(Date.now()) }))[0];
}

export async function requireGrantOf(store: Store, customerId: string, id: string): Promise<Grant> {
  return (await findGrant(store, customerId, id)) ?? refuseUnknownGrant(id);
}

export function refuseUnknownGrant(id: string): never {
  throw new Missing('grant', id, '"partner-network grants list --partner ID" lists the grants of a partner.');
}

/** Only an active grant changes: another status is final. Safe to repeat. */
export async function revokeGrant(store: Store, customerId: string, id: string, by: Author): Promise<Grant> {
  await requireGrantOf(store, customerId, id);
  await store.revokeGrant(customerId, id, toTime(Date.now()), by);
  return requireGrantOf(store, customerId, id);
}

export type ListedGrant = Grant & { readonly revoked_at?: string; readonly revoked_by?: string };

/** Grants with the time and the actor of their revocation. */
export async function listGrants(store: Store, query: GrantsQuery): Promise<ListedGrant[]> {
  return withRevocations(store, await store.listGrants(query));
}

/** Grants whose revocations are looked up by one statement. */
const lookedUp = 500;

/**
 * Adds the time and the actor of a revocation, from the audit log. A grant that an import revoked has the
 * time of its line, and no name: the entry of an import does not list its records. After the erasure of its
 * customer, an import may bring a grant back: entries before that are about the grant that was erased.
 */
export async function withRevocations(store: Store, grants: readonly Grant[]): Promise<ListedGrant[]> {
  const listed: ListedGrant[] = [];
  for (let start = 0; start < grants.length; start += lookedUp) {
    const some = grants.slice(start, start + lookedUp);
    const revoked = some.filter(({ status }) => status === 'REVOKED');
    const targets = new Set(revoked.flatMap(({ id, customer_id }) => [id, customer_id]));
    const entries = await store.auditOf('grants revoke', [...targets]);
    const erasures = await store.auditOf('customers erase', [...targets]);
    for (const grant of some) {
      const erased = erasures.filter(({ target }) => target === grant.customer_id);
      const entry = entries.find(
        ({ seq, at, target, details }) =>
          ((target === grant.id && details.customer_id === grant.customer_id) ||
            (target === grant.customer_id && [details.grants].flat().includes(grant.id))) &&
          // Imported erasures have one entry, which names no customer, so the times are compared, too.
          at >= grant.created_at &&
          erased.every((erasure) => erasure.seq < seq),
      );
      const { at: revoked_at = grant.updated_at, actor: revoked_by } = entry ?? {};
      const isRevoked = grant.status === 'REVOKED';
      listed.push(isRevoked ? { ...grant, revoked_at, ...(revoked_by && { revoked_by }) } : grant);
    }
  }
  return listed;
}

/** The current status. A grant that was revoked or used up keeps that status after its expiry. */
export function grantStatus({ status, expires_at }: Grant): Grant['status'] {
  return status === 'ACTIVE' && isPast(expires_at) ? 'EXPIRED' : status;
}
