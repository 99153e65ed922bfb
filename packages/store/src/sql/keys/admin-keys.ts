/** Administrative keys, in SQL that both engines understand. */
import type { AdminRole } from '@partner-network/contract/admin/roles';
import type { AdminKey, AdminKeyOnFile, AdminKeys } from '../../port.ts';
import { type Row, type Sql, withoutNulls } from '../statement.ts';
import { createKeyChanges, type KeyTable } from './changes.ts';
import { isKey, nearest } from './keys.ts';

const table: KeyTable<AdminKey> = {
  name: 'admin_keys',
  columns: 'id, name, role, last_four, created_at, created_by, expires_at, revoked_at',
  shown: 'role',
  keyOf: (row) => withoutNulls(row) as AdminKey,
  rowOf: (key) => key,
  detailsOf: ({ role, expires_at }) => ({ role, expires_at }),
};

const nearestAdminKey = nearest('$1', 'k.id, k.role, k.expires_at, k.revoked_at', 'admin_keys');

export function createAdminKeys(sql: Sql): AdminKeys {
  const { create, select, revoke, rotate } = createKeyChanges(sql, table);
  return {
    createAdminKey: create,
    findAdminKey: async (digest) => adminKeyOnFile((await sql.rows(nearestAdminKey, digest))[0]),
    findAdminKeyById: async (id) => (await select('where id = $1', id))[0],
    listAdminKeys: () => select('order by id'),
    revokeAdminKey: revoke,
    rotateAdminKey: rotate,
  };
}

/** Undefined if the row is only a neighbor, or if no key exists. */
function adminKeyOnFile(row: Row | undefined): AdminKeyOnFile | undefined {
  if (row === undefined) return undefined;
  // Built for a neighbor, too: both cases take the same time.
  const key = {
    id: row.id as string,
    role: row.role as AdminRole,
    expiresAt: (row.expires_at as string | null) ?? undefined,
    isRevoked: row.revoked_at !== null,
  };
  return isKey(row.is_same) ? key : undefined;
}
