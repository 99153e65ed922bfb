/** What an operator does to partners, keys and grants, in SQL that every engine reads. */
import type { Scope } from '@partner-network/contract/scopes';
import type { Accounts, ApiKey, Grant, Partner } from '../port.ts';

export type Value = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, unknown>>;
export type Statement = readonly [text: string, ...values: Value[]];

/** Statements with $1, $2, … in them. Times come as the wire writes them. */
export interface Sql {
  rows(...statement: Statement): Promise<readonly Row[]>;
  /** All of them or none. */
  write(...statements: Statement[]): Promise<void>;
}

const keyColumns = 'id, partner_id, name, scopes, last_four, created_at, expires_at, revoked_at';
const partnerColumns = 'id, name, created_at, disabled_at';
const grantColumns = 'id, partner_id, customer_id, action, status, expires_at, created_at, updated_at';

export function createAccounts({ rows, write }: Sql): Accounts {
  async function records<Result>(...statement: Statement): Promise<Result[]> {
    return (await rows(...statement)).map(withoutNulls) as Result[];
  }

  async function keys(condition: string, value: string): Promise<ApiKey[]> {
    const found = await records<ApiKey & { scopes: unknown }>(
      `select ${keyColumns} from api_keys where ${condition} order by id`,
      value,
    );
    return found.map((key) => ({ ...key, scopes: String(key.scopes).split(' ') as Scope[] }));
  }

  return {
    createPartner: ({ id, name, created_at }) =>
      write(['insert into partners (id, name, created_at) values ($1, $2, $3)', id, name, created_at]),

    findPartner: async (id) =>
      (await records<Partner>(`select ${partnerColumns} from partners where id = $1`, id))[0],

    listPartners: () => records<Partner>(`select ${partnerColumns} from partners order by id`),

    setPartnerDisabled: (id, at) =>
      write(['update partners set disabled_at = $1 where id = $2', at ?? null, id]),

    createKey: (key, digest) => write(insertKey(key, digest)),

    findKeyById: async (id) => (await keys('id = $1', id))[0],

    listKeys: (partnerId) => keys('partner_id = $1', partnerId),

    revokeKey: (id, at) =>
      write(['update api_keys set revoked_at = coalesce(revoked_at, $1) where id = $2', at, id]),

    rotateKey: (oldId, oldExpiresAt, key, digest) =>
      write(
        ['update api_keys set expires_at = $1 where id = $2', oldExpiresAt, oldId],
        insertKey(key, digest),
      ),

    createGrant: (grant) =>
      write([
        `insert into grants (${grantColumns}) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
        grant.id,
        grant.partner_id,
        grant.customer_id,
        grant.action,
        grant.status,
        grant.expires_at ?? null,
        grant.created_at,
        grant.updated_at,
      ]),

    findGrants: (id) =>
      records<Grant>(`select ${grantColumns} from grants where id = $1 order by customer_id`, id),

    listGrants: (partnerId, customerId) => {
      const select = `select ${grantColumns} from grants where partner_id = $1`;
      return customerId === undefined
        ? records<Grant>(`${select} order by customer_id, id`, partnerId)
        : records<Grant>(`${select} and customer_id = $2 order by id`, partnerId, customerId);
    },

    revokeGrant: (customerId, id, at) =>
      write([
        `update grants set status = 'REVOKED', updated_at = $1 where customer_id = $2 and id = $3`,
        at,
        customerId,
        id,
      ]),
  };
}

export function insertKey(key: ApiKey, digest: Uint8Array): Statement {
  return [
    `insert into api_keys (${keyColumns}, digest) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    key.id,
    key.partner_id,
    key.name ?? null,
    key.scopes.toSorted().join(' '),
    key.last_four,
    key.created_at,
    key.expires_at ?? null,
    key.revoked_at ?? null,
    digest,
  ];
}

/** An optional field without a value is absent, never null. */
export function withoutNulls(row: Row): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
