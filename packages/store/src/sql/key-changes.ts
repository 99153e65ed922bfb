/** Changes keys of partners, and keeps administrative keys and ended sessions, in SQL for both engines. */
import { isPast, latestTimeMs, toTime } from '@partner-network/common/times';
import type { AdminRole } from '@partner-network/contract/permissions';
import {
  type AdminKey,
  type AdminKeyOnFile,
  type AdminKeys,
  type AnyKey,
  type AuditEntry,
  type Author,
  ExpiryNotInFuture,
  type Replacement,
  type Rotated,
} from '../port.ts';
import { changeRow, changeStatement } from './audit.ts';
import { isKey, nearest } from './keys.ts';
import { type BoundStatement, insert, type Row, type Sql, type Value, withoutNulls } from './statement.ts';

export interface KeyTable<Key extends AnyKey> {
  readonly name: 'api_keys' | 'admin_keys';
  /** All but the digest. */
  readonly columns: string;
  /** The column that the entry of a revocation names. */
  readonly shown: 'partner_id' | 'role';
  keyOf(row: Row): Key;
  rowOf(key: Key): object;
  /** For audit entries. Without the name, which an operator chooses and which may be an e-mail address. */
  detailsOf(key: Key): AuditEntry['details'];
}

export function insertKey<Key extends AnyKey>(
  { name, columns, rowOf }: KeyTable<Key>,
  key: Key,
  digest: Uint8Array,
): BoundStatement {
  return insert(name, `${columns}, digest`, { ...rowOf(key), digest });
}

export function createKeyChanges<Key extends AnyKey>(sql: Sql, table: KeyTable<Key>) {
  const { name, columns, shown, keyOf, detailsOf } = table;
  return {
    create: (key: Key, digest: Uint8Array, by: Author): Promise<void> =>
      sql.transaction(function* () {
        yield insertKey(table, { ...key, created_by: by.actor }, digest);
        yield changeStatement(by, key.id, detailsOf(key));
      }),
    select: async (rest: string, ...values: Value[]): Promise<Key[]> =>
      (await sql.rows(`select ${columns} from ${name} ${rest}`, ...values)).map(keyOf),
    revoke: (id: string, at: string, by: Author): Promise<boolean> => {
      const text = `
        update ${name} set revoked_at = $1 where id = $2 and revoked_at is null returning ${shown}`;
      return changeRow(sql, [text, at, id], (changed) =>
        changeStatement(by, id, { [shown]: changed[shown] }),
      );
    },
    rotate: (oldId: string, replacement: Replacement, by: Author): Promise<Rotated<Key> | undefined> =>
      sql.transaction(() => rotation(table, oldId, replacement, by)),
  };
}

function* rotation<Key extends AnyKey>(
  table: KeyTable<Key>,
  oldId: string,
  { id, last_four, digest, overlapMs, expiresAt }: Replacement,
  by: Author,
): Generator<BoundStatement, Rotated<Key> | undefined, readonly Row[]> {
  const { name, columns, keyOf, detailsOf } = table;
  // Locks the key without a change: a concurrent revocation is either seen here, or waits.
  const [locked] = yield [
    `update ${name} set last_four = last_four where id = $1 returning ${columns}`,
    oldId,
  ];
  const nowMs = Date.now();
  if (locked === undefined) return undefined;
  const old = keyOf(locked);
  if (old.revoked_at !== undefined || isPast(old.expires_at, nowMs)) return undefined;

  const lifetimeMs = endMs(old) - Date.parse(old.created_at);
  const lifetimeEndMs = Math.min(nowMs + lifetimeMs, latestTimeMs);
  const lifetimeEnd = Number.isFinite(lifetimeMs) ? toTime(lifetimeEndMs) : undefined;
  const expires_at = expiresAt ?? lifetimeEnd;
  if (isPast(expires_at, nowMs)) throw new ExpiryNotInFuture(expiresAt === undefined);

  const end =
    overlapMs === 0
      ? { revoked_at: toTime(nowMs) }
      : { expires_at: toTime(Math.min(endMs(old), nowMs + overlapMs)) };
  const [column, time] = Object.entries(end)[0]!;
  yield [`update ${name} set ${column} = $1 where id = $2`, time, oldId];
  const issued = { id, last_four, created_at: toTime(nowMs), created_by: by.actor, expires_at };
  const key = { ...old, ...issued };
  yield insertKey(table, key, digest);
  yield changeStatement(by, oldId, { new_key_id: id, ...detailsOf(key), old_key: end });
  return { old: { ...old, ...end }, key };
}

function endMs({ expires_at }: { readonly expires_at?: string | undefined }): number {
  return expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires_at);
}

const adminKeyTable: KeyTable<AdminKey> = {
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
  const { create, select, revoke, rotate } = createKeyChanges(sql, adminKeyTable);
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
