/** Administrative keys and ended sessions, in SQL that both engines understand. */
import { toTime } from '@partner-network/common/times';
import type { AdminRole } from '@partner-network/contract/permissions';
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

const insertEnded = 'insert into ended_sessions (digest, ends_at) values ($1, $2) on conflict do nothing';

export function createAdminKeys(sql: Sql): AdminKeys {
  const { create, select, revoke, rotate } = createKeyChanges(sql, table);
  return {
    createAdminKey: create,
    findAdminKey: async (digest) => adminKeyOnFile((await sql.rows(nearestAdminKey, digest))[0]),
    findAdminKeyById: async (id) => (await select('where id = $1', id))[0],
    listAdminKeys: () => select('order by id'),
    revokeAdminKey: revoke,
    rotateAdminKey: rotate,
    endSession: (digest, endsAt) =>
      sql.transaction(function* () {
        yield ['delete from ended_sessions where ends_at <= $1', toTime(Date.now())];
        yield [insertEnded, digest, endsAt];
      }),
    isSessionEnded: async (digest) =>
      (await sql.rows('select ends_at from ended_sessions where digest = $1', digest)).length > 0,
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
