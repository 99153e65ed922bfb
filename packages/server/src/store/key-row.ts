import type { Scope } from '@partner-network/contract/scopes';
import type { Row } from './accounts.ts';
import type { KeyOnFile } from './port.ts';

/** The key on file from a row of its table and its partner's, as every engine gives it. */
export function keyOnFile(row: Row): KeyOnFile {
  return {
    id: row.id as string,
    partnerId: row.partner_id as string,
    scopes: (row.scopes as string).split(' ') as Scope[],
    expiresAt: (row.expires_at as string | null) ?? undefined,
    isRevoked: row.revoked_at !== null,
    isPartnerDisabled: row.disabled_at !== null,
  };
}
