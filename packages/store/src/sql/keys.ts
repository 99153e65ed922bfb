import { doctorBounds } from '@partner-network/common/bounds/operator';
import type { Scope } from '@partner-network/contract/permissions';
import type { KeyOnFile, KeyOwner, Store } from '../port.ts';
import type { Sql } from './statement.ts';

/**
 * Selects the key with this digest, or a neighbor in the order of digests. An unknown key then costs as much
 * as a known one, so the response time does not reveal whether a key exists.
 */
export function nearest(digest: string, columns: string, table: string, join = ''): string {
  return `
    select ${columns}, k.digest = ${digest} as is_same
    from ${table} k ${join}
    where k.digest = coalesce(
      (select digest from ${table} where digest <= ${digest} order by digest desc limit 1),
      (select digest from ${table} where digest > ${digest} order by digest limit 1)
    )`;
}

/** Selects an API key, with what `keyOnFile` reads. */
export function nearestKey(digest: string): string {
  const columns = 'k.id, k.partner_id, k.scopes, k.expires_at, k.revoked_at, p.disabled_at';
  return nearest(digest, columns, 'api_keys', 'join partners p on p.id = k.partner_id');
}

/** Whether a row is the key itself and not a neighbor. Each engine has its own kind of truth. */
export const isKey = (isSame: unknown) => isSame === true || isSame === 1;

/** The key in a row of `nearestKey`. Undefined if the row is only a neighbor, or if no key exists. */
export function keyOnFile(row: readonly unknown[] | undefined): KeyOnFile | undefined {
  if (row === undefined) return undefined;
  const [id, partnerId, scopes, expiresAt, revokedAt, disabledAt, isSame] = row;
  // Built for a neighbor, too: both cases take the same time.
  const key = {
    id: id as string,
    partnerId: partnerId as string,
    scopes: (scopes as string).split(' ') as Scope[],
    expiresAt: (expiresAt as string | null) ?? undefined,
    isRevoked: revokedAt !== null,
    isPartnerDisabled: disabledAt !== null,
  };
  return isKey(isSame) ? key : undefined;
}

/**
 * Whether key n can replace key k: a newer key of the same partner, with the same name and at least its
 * scopes. Scopes are stored in order.
 */
const replaces = `
  n.partner_id = k.partner_id and n.created_at >= k.created_at and n.revoked_at is null
  and coalesce(n.name, '') = coalesce(k.name, '') and ' ' || n.scopes || ' ' like '% ' || k.scopes || ' %'`;

/**
 * Selects the first few keys that work at $1 and no longer at $2, those without a replacement first, and the
 * count of all. A key counts as replaced if another key replaces it and still works at $2.
 */
export const expiringKeys = `
  select *, count(*) over () as count
  from (
    select k.id, k.partner_id, k.name, k.expires_at,
      case when exists (
        select 1 from api_keys n where ${replaces} and (n.expires_at is null or n.expires_at > $2)
      ) then 1 else 0 end as is_replaced
    from api_keys k join partners p on p.id = k.partner_id
    where k.expires_at > $1 and k.expires_at <= $2 and k.revoked_at is null and p.disabled_at is null
  ) as found
  order by is_replaced, expires_at, id limit ${doctorBounds.shownKeys}`;

/** The same for administrative keys, without those that are replaced by a key with the same name and role. */
export const expiringAdminKeys = `
  select k.id, k.role, k.name, k.expires_at, count(*) over () as count
  from admin_keys k
  where k.expires_at > $1 and k.expires_at <= $2 and k.revoked_at is null and not exists (
    select 1 from admin_keys n
    where n.name = k.name and n.role = k.role and n.created_at >= k.created_at and n.revoked_at is null
      and (n.expires_at is null or n.expires_at > $2)
  )
  order by k.expires_at, k.id limit ${doctorBounds.shownKeys}`;

/** Selects keys that work at $1 and expire, and since when another key that works longer replaces them. */
export const replacedKeys = `
  select k.id, k.partner_id, k.name, k.expires_at, min(n.created_at) as replaced_at
  from api_keys k
    join partners p on p.id = k.partner_id
    join api_keys n on ${replaces} and (n.expires_at is null or n.expires_at > k.expires_at)
  where k.expires_at > $1 and k.revoked_at is null and p.disabled_at is null
  group by k.id, k.partner_id, k.name, k.expires_at
  order by k.expires_at, k.id limit ${doctorBounds.replacedKeys}`;

const firstExpiry: Readonly<Record<KeyOwner, string>> = {
  partners: `
    select min(k.expires_at) as at from api_keys k join partners p on p.id = k.partner_id
    where k.expires_at > $1 and k.revoked_at is null and p.disabled_at is null`,
  administration: 'select min(expires_at) as at from admin_keys where expires_at > $1 and revoked_at is null',
};

export function createExpiry(sql: Sql): Pick<Store, 'firstExpiry'> {
  return {
    firstExpiry: async (of, at) =>
      ((await sql.rows(firstExpiry[of], at))[0]!.at as string | null) ?? undefined,
  };
}
