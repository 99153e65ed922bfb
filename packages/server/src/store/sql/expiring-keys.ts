import { doctorBounds } from '../../bounds/doctor.ts';
import type { Sql } from './accounts.ts';

export interface ExpiringKey {
  readonly id: string;
  readonly partner_id: string;
  readonly name: string | null;
  readonly expires_at: string;
  /** Whether there is another one in its place, as after a rotation. */
  readonly isReplaced: boolean;
}

export interface ExpiringKeys {
  readonly count: number;
  /** Of these, the ones that nothing replaces. */
  readonly unreplaced: number;
  /** The first of them, those that nothing replaces before the others, and soonest first. */
  readonly first: readonly ExpiringKey[];
}

/**
 * Keys that work at one time and not any more at another. One is replaced by a newer key of its partner with
 * its name and at least its scopes, which are stored in order, that lives longer than the time we look at.
 */
const expiring = `
  select *, count(*) over () as count, sum(1 - is_replaced) over () as unreplaced
  from (
    select k.id, k.partner_id, k.name, k.expires_at,
      case when exists (
        select 1 from api_keys n
        where n.partner_id = k.partner_id and n.created_at >= k.created_at
          and coalesce(n.name, '') = coalesce(k.name, '')
          and ' ' || n.scopes || ' ' like '% ' || k.scopes || ' %'
          and n.revoked_at is null and (n.expires_at is null or n.expires_at > $2)
      ) then 1 else 0 end as is_replaced
    from api_keys k join partners p on p.id = k.partner_id
    where k.expires_at > $1 and k.expires_at <= $2 and k.revoked_at is null and p.disabled_at is null
  ) as found
  order by is_replaced, expires_at, id limit ${doctorBounds.doctorShownKeys}`;

/** Keys that expire after one time, and not after another. */
export async function expiringKeys(rows: Sql['rows'], after: string, until: string): Promise<ExpiringKeys> {
  const found = await rows(expiring, after, until);
  return {
    count: Number(found[0]?.count ?? 0),
    unreplaced: Number(found[0]?.unreplaced ?? 0),
    first: found.map(({ id, partner_id, name, expires_at, is_replaced }) => ({
      ...({ id, partner_id, name, expires_at } as Omit<ExpiringKey, 'isReplaced'>),
      isReplaced: is_replaced === 1,
    })),
  };
}
