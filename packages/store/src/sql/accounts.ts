/** Partners and keys, in SQL that both engines understand. */

import { latestTimeMs, toTime } from '@partner-network/common/times';
import type { Scope } from '@partner-network/contract/scopes';
import type { Accounts, ApiKey, Author, Partner, Replacement } from '../port.ts';
import { changeRow, changeStatement } from './audit.ts';
import { createGrants, type GrantLocks } from './grants.ts';
import { type BoundStatement, insert, type Row, type Sql, withoutNulls } from './statement.ts';

const partnerColumns = 'id, name, created_at, disabled_at';
const keyColumns = 'id, partner_id, name, scopes, last_four, created_at, created_by, expires_at, revoked_at';

const selectPartners = `select ${partnerColumns} from partners`;
const selectKeys = `select ${keyColumns} from api_keys`;

export function createAccounts(sql: Sql, locks?: GrantLocks): Accounts {
  const { rows, transaction } = sql;

  async function partners(...statement: BoundStatement): Promise<Partner[]> {
    return (await rows(...statement)).map(withoutNulls) as unknown as Partner[];
  }

  return {
    createPartner: (partner, by) =>
      transaction(function* () {
        yield insert('partners', partnerColumns, { ...partner });
        yield changeStatement(by, partner.id, {});
      }),
    findPartner: async (id) => (await partners(`${selectPartners} where id = $1`, id))[0],
    listPartners: () => partners(`${selectPartners} order by id`),
    setPartnerDisabled: (id, at, by) => {
      const other = at === undefined ? 'is not null' : 'is null';
      const text = `update partners set disabled_at = $1 where id = $2 and disabled_at ${other} returning id`;
      return changeRow(sql, [text, at ?? null, id], () => changeStatement(by, id, {}));
    },
    renamePartner: (id, from, to, by) => {
      const text = 'update partners set name = $1 where id = $2 and name = $3 and name <> $1 returning id';
      return changeRow(sql, [text, to, id, from], () => changeStatement(by, id, {}));
    },

    createKey: (key, digest, by) =>
      transaction(function* () {
        yield insertKey({ ...key, created_by: by.actor }, digest);
        yield changeStatement(by, key.id, detailsOf(key));
      }),
    findKeyById: async (id) => (await rows(`${selectKeys} where id = $1`, id)).map(keyOf)[0],
    listKeys: async (partnerId) => {
      const found =
        partnerId === undefined
          ? await rows(`${selectKeys} order by partner_id, id`)
          : await rows(`${selectKeys} where partner_id = $1 order by id`, partnerId);
      return found.map(keyOf);
    },
    revokeKey: (id, at, by) => {
      const text =
        'update api_keys set revoked_at = $1 where id = $2 and revoked_at is null returning partner_id';
      return changeRow(sql, [text, at, id], ({ partner_id }) => changeStatement(by, id, { partner_id }));
    },
    rotateKey: (oldId, replacement, by) => transaction(() => rotation(oldId, replacement, by)),

    ...createGrants(sql, locks),
  };
}

/** Locks the key without a change: a concurrent revocation is either seen here, or waits. */
const lockKey = `update api_keys set last_four = last_four where id = $1 returning ${keyColumns}`;

function* rotation(
  oldId: string,
  { id, last_four, digest, overlapMs, expiresAt }: Replacement,
  by: Author,
): Generator<BoundStatement, Record<'old' | 'key', ApiKey> | undefined, readonly Row[]> {
  const [locked] = yield [lockKey, oldId];
  const nowMs = Date.now();
  if (locked === undefined) return undefined;
  const old = keyOf(locked);
  if (old.revoked_at !== undefined || endMs(old) <= nowMs) return undefined;

  const end =
    overlapMs === 0
      ? { revoked_at: toTime(nowMs) }
      : { expires_at: toTime(Math.min(endMs(old), nowMs + overlapMs)) };
  const [column, time] = Object.entries(end)[0]!;
  yield [`update api_keys set ${column} = $1 where id = $2`, time, oldId];
  const { partner_id, name, scopes } = old;
  const lifetimeMs = endMs(old) - Date.parse(old.created_at);
  const lifetimeEndMs = Math.min(nowMs + lifetimeMs, latestTimeMs);
  const lifetimeEnd = Number.isFinite(lifetimeMs) ? toTime(lifetimeEndMs) : undefined;
  const key = {
    ...{ id, partner_id, name, scopes, last_four, created_at: toTime(nowMs), created_by: by.actor },
    expires_at: expiresAt ?? lifetimeEnd,
  };
  yield insertKey(key, digest);
  yield changeStatement(by, oldId, { new_key_id: id, ...detailsOf(key), old_key: end });
  return { old: { ...old, ...end }, key };
}

function endMs({ expires_at }: ApiKey): number {
  return expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires_at);
}

/** Without the name, which an operator chooses and which may be an e-mail address. */
function detailsOf({ partner_id, scopes, expires_at }: ApiKey) {
  return { partner_id, scopes, expires_at };
}

export function insertKey(key: ApiKey, digest: Uint8Array): BoundStatement {
  const scopes = key.scopes.toSorted().join(' ');
  return insert('api_keys', `${keyColumns}, digest`, { ...key, scopes, digest });
}

function keyOf(row: Row): ApiKey {
  const scopes = (row.scopes as string).split(' ') as Scope[];
  return { ...withoutNulls(row), scopes } as unknown as ApiKey;
}
