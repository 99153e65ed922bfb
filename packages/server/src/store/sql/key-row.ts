import type { Scope } from '@partner-network/contract/scopes';
import type { KeyOnFile } from '../port.ts';
import type { Row } from './accounts.ts';

/**
 * The key with this digest, or else the one before it in the order of digests, or the one after: a key that
 * is not on file costs what one costs that is, so that the time of an answer does not tell them apart.
 */
export function nearestKey(digest: string): string {
  return `
    select k.id, k.partner_id, k.scopes, k.expires_at, k.revoked_at, p.disabled_at,
      k.digest = ${digest} as is_same
    from api_keys k join partners p on p.id = k.partner_id
    where k.digest = coalesce(
      (select digest from api_keys where digest <= ${digest} order by digest desc limit 1),
      (select digest from api_keys where digest > ${digest} order by digest limit 1)
    )`;
}

/** The key on file from a row of the above, as every engine gives it; the nearest is as good as none. */
export function keyOnFile(row: Row): KeyOnFile | undefined {
  const key = {
    id: row.id as string,
    partnerId: row.partner_id as string,
    scopes: (row.scopes as string).split(' ') as Scope[],
    expiresAt: (row.expires_at as string | null) ?? undefined,
    isRevoked: row.revoked_at !== null,
    isPartnerDisabled: row.disabled_at !== null,
  };
  return row.is_same === true || row.is_same === 1 ? key : undefined;
}
