/** Finds, changes and lists keys of partners and of the administrative service, in SQL for both engines. */
import { doctorBounds } from '@partner-network/common/bounds/operator';
import { isPast, latestTimeMs, toTime } from '@partner-network/common/times';
import type { AdminRole, Scope } from '@partner-network/contract/permissions';
import {
  type AdminKey,
  type AdminKeyOnFile,
  type AdminKeys,
  type AnyKey,
  type ApiKey,
  type AuditEntry,
  type Author,
  type ExpiringKey,
  ExpiryNotInFuture,
  type KeyOnFile,
  type KeyOwner,
  type Limits,
  type Replacement,
  type Rotated,
  type Store,
} from '../port.ts';
import { changeRow, changeStatement } from './audit.ts';
import { type BoundStatement, insert, type Row, type Sql, type Value, withoutNulls } from './statement.ts';

/**
 * Selects the key with this digest, or a neighbor in the order of digests. An unknown key then costs as much
 * as a known one, so the response time does not reveal whether a key exists.
 */
function nearest(digest: string, columns: string, table: string, join = ''): string {
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
  const columns =
    'k.id, k.partner_id, k.scopes, k.expires_at, k.revoked_at, p.disabled_at, p.brands_rate, p.balances_rate';
  return nearest(digest, columns, 'api_keys', 'join partners p on p.id = k.partner_id');
}

/** A partner's own rate limits. Null if all defaults apply. */
export function limitsOf({ brands_rate: brands, balances_rate: balances }: Row): Limits | null {
  return brands === null && balances === null ? null : withoutNulls({ brands, balances });
}

/** Whether a row is the key itself and not a neighbor. Each engine has its own kind of truth. */
const isKey = (isSame: unknown) => isSame === true || isSame === 1;

/** The key in a row of `nearestKey`. Undefined if the row is only a neighbor, or if no key exists. */
export function keyOnFile(row: readonly unknown[] | undefined): KeyOnFile | undefined {
  if (row === undefined) return undefined;
  const [id, partnerId, scopes, expiresAt, revokedAt, disabledAt, brands, balances, isSame] = row;
  // Built for a neighbor, too: both cases take the same time.
  const key = {
    id: id as string,
    partnerId: partnerId as string,
    scopes: (scopes as string).split(' ') as Scope[],
    expiresAt: (expiresAt as string | null) ?? undefined,
    isRevoked: revokedAt !== null,
    isPartnerDisabled: disabledAt !== null,
    limits: withoutNulls({ brands, balances }),
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

/** Selects keys that work at $1 and expire, and since when the newest key that works longer replaces them. */
export const replacedKeys = `
  select k.id, k.partner_id, k.name, k.expires_at, max(n.created_at) as replaced_at
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

export function createExpiry(sql: Sql): Pick<Store, 'firstExpiry' | 'expiringKeys'> {
  return {
    expiringKeys: async (at, until) => (await sql.rows(expiringKeys, at, until)).map(expiringKeyOf),
    firstExpiry: async (of, at) =>
      ((await sql.rows(firstExpiry[of], at))[0]!.at as string | null) ?? undefined,
  };
}

const expiringKeyOf = ({ id, partner_id, expires_at, is_replaced }: Row) =>
  ({ id, partner_id, expires_at, isReplaced: is_replaced === 1 }) as ExpiringKey;

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

/** Keys of partners. Scopes are one text, in order. */
export const apiKeys: KeyTable<ApiKey> = {
  name: 'api_keys',
  columns: 'id, partner_id, name, scopes, last_four, created_at, created_by, expires_at, revoked_at',
  shown: 'partner_id',
  keyOf: (row) => ({ ...withoutNulls(row), scopes: (row.scopes as string).split(' ') }) as unknown as ApiKey,
  rowOf: (key) => ({ ...key, scopes: key.scopes.toSorted().join(' ') }),
  detailsOf: ({ partner_id, scopes, expires_at }) => ({ partner_id, scopes, expires_at }),
};

const adminKeyTable: KeyTable<AdminKey> = {
  name: 'admin_keys',
  columns: 'id, name, role, last_four, created_at, created_by, expires_at, revoked_at',
  shown: 'role',
  keyOf: (row) => withoutNulls(row) as AdminKey,
  rowOf: (key) => key,
  detailsOf: ({ role, expires_at }) => ({ role, expires_at }),
};

const nearestAdminKey = nearest('$1', 'k.id, k.role, k.expires_at, k.revoked_at', 'admin_keys');

const insertEnded = `
  insert into ended_sessions (digest, ends_at) values ($1, $2) on conflict do nothing returning ends_at`;

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
        return (yield [insertEnded, digest, endsAt]).length > 0;
      }),
    sessionKeys: async () =>
      (await sql.rows('select id, secret from session_keys')).map(({ id, secret }) => ({
        id: Number(id),
        secret: secret as Uint8Array,
      })),
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
