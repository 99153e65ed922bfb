import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Scope } from '@partner-network/contract/scopes';
import type { Accounts, ApiKey, Grant, Partner } from '../port.ts';
import { transaction, translated } from './engine.ts';

const keyColumns = 'id, partner_id, name, scopes, last_four, created_at, expires_at, revoked_at';
const grantColumns = 'id, partner_id, customer_id, action, status, expires_at, created_at, updated_at';

/** Statements are prepared when they are used: an operator's command runs one or two of them. */
export function createAccounts(db: DatabaseSync): Accounts {
  function rows<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return db
      .prepare(sql)
      .all(...values)
      .map(withoutNulls) as Row[];
  }

  function write(sql: string, ...values: SQLInputValue[]): void {
    try {
      db.prepare(sql).run(...values);
    } catch (error) {
      throw translated(error);
    }
  }

  function insertKey(key: ApiKey, digest: Uint8Array): void {
    write(
      `insert into api_keys (${keyColumns}, digest) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      key.id,
      key.partner_id,
      key.name ?? null,
      key.scopes.toSorted().join(' '),
      key.last_four,
      key.created_at,
      key.expires_at ?? null,
      key.revoked_at ?? null,
      digest,
    );
  }

  function keys(condition: string, value: string): ApiKey[] {
    return rows<ApiKey & { scopes: unknown }>(
      `select ${keyColumns} from api_keys where ${condition} order by id`,
      value,
    ).map((key) => ({ ...key, scopes: String(key.scopes).split(' ') as Scope[] }));
  }

  return {
    createPartner: async ({ id, name, created_at }) =>
      write('insert into partners (id, name, created_at) values (?, ?, ?)', id, name, created_at),

    findPartner: async (id) =>
      rows<Partner>('select id, name, created_at, disabled_at from partners where id = ?', id)[0],

    listPartners: async () =>
      rows<Partner>('select id, name, created_at, disabled_at from partners order by id'),

    setPartnerDisabled: async (id, at) =>
      write('update partners set disabled_at = ? where id = ?', at ?? null, id),

    createKey: async (key, digest) => insertKey(key, digest),

    findKeyById: async (id) => keys('id = ?', id)[0],

    listKeys: async (partnerId) => keys('partner_id = ?', partnerId),

    revokeKey: async (id, at) =>
      write('update api_keys set revoked_at = coalesce(revoked_at, ?) where id = ?', at, id),

    rotateKey: async (oldId, oldExpiresAt, key, digest) => {
      transaction(db, 'immediate', () => {
        write('update api_keys set expires_at = ? where id = ?', oldExpiresAt, oldId);
        insertKey(key, digest);
      });
    },

    createGrant: async (grant) =>
      write(
        `insert into grants (${grantColumns}) values (?, ?, ?, ?, ?, ?, ?, ?)`,
        grant.id,
        grant.partner_id,
        grant.customer_id,
        grant.action,
        grant.status,
        grant.expires_at ?? null,
        grant.created_at,
        grant.updated_at,
      ),

    findGrants: async (id) =>
      rows<Grant>(`select ${grantColumns} from grants where id = ? order by customer_id`, id),

    listGrants: async (partnerId, customerId) => {
      const select = `select ${grantColumns} from grants where partner_id = ?`;
      return customerId === undefined
        ? rows<Grant>(`${select} order by customer_id, id`, partnerId)
        : rows<Grant>(`${select} and customer_id = ? order by id`, partnerId, customerId);
    },

    revokeGrant: async (customerId, id, at) =>
      write(
        `update grants set status = 'REVOKED', updated_at = ? where customer_id = ? and id = ?`,
        at,
        customerId,
        id,
      ),
  };
}

/** An optional field without a value is absent, never null. */
function withoutNulls(row: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
