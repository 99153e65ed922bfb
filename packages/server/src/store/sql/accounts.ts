/** Partners, keys and grants, in SQL that both engines understand. */
import type { Scope } from '@partner-network/contract/scopes';
import type { Accounts, ApiKey, Grant, Partner } from '../port.ts';
import type { BoundStatement, Row, Sql, Value } from './statement.ts';

const partnerColumns = 'id, name, created_at, disabled_at';
const keyColumns = 'id, partner_id, name, scopes, last_four, created_at, expires_at, revoked_at';
export const grantColumns = 'id, partner_id, customer_id, action, status, expires_at, created_at, updated_at';

const selectPartners = `select ${partnerColumns} from partners`;
const selectGrants = `select ${grantColumns} from grants`;

export function createAccounts({ rows, transaction }: Sql): Accounts {
  const write = (statements: readonly BoundStatement[]) =>
    transaction(function* () {
      for (const statement of statements) yield statement;
    });

  async function records<Result>(...statement: BoundStatement): Promise<Result[]> {
    return (await rows(...statement)).map(withoutNulls) as Result[];
  }

  async function keys(condition: string, value: string): Promise<ApiKey[]> {
    const text = `select ${keyColumns} from api_keys where ${condition} order by id`;
    const found = await records<ApiKey & { scopes: unknown }>(text, value);
    return found.map((key) => ({ ...key, scopes: String(key.scopes).split(' ') as Scope[] }));
  }

  return {
    createPartner: (partner) => write([insert('partners', partnerColumns, { ...partner })]),
    findPartner: async (id) => (await records<Partner>(`${selectPartners} where id = $1`, id))[0],
    listPartners: () => records<Partner>(`${selectPartners} order by id`),
    setPartnerDisabled: (id, at) =>
      write([['update partners set disabled_at = $1 where id = $2', at ?? null, id]]),

    createKey: (key, digest) => write([insertKey(key, digest)]),
    findKeyById: async (id) => (await keys('id = $1', id))[0],
    listKeys: (partnerId) => keys('partner_id = $1', partnerId),
    revokeKey: (id, at) =>
      write([['update api_keys set revoked_at = coalesce(revoked_at, $1) where id = $2', at, id]]),
    rotateKey: (oldId, oldExpiresAt, key, digest) =>
      write([
        ['update api_keys set expires_at = $1 where id = $2', oldExpiresAt, oldId],
        insertKey(key, digest),
      ]),

    createGrant: (grant) => write([insert('grants', grantColumns, grant)]),
    findGrants: (id) => records<Grant>(`${selectGrants} where id = $1 order by customer_id`, id),
    listGrants: (partnerId, customerId) => {
      const select = `${selectGrants} where partner_id = $1`;
      return customerId === undefined
        ? records<Grant>(`${select} order by customer_id, id`, partnerId)
        : records<Grant>(`${select} and customer_id = $2 order by id`, partnerId, customerId);
    },
    revokeGrant: (customerId, id, at) => {
      const text = `update grants set status = 'REVOKED', updated_at = $1 where customer_id = $2 and id = $3`;
      return write([[text, at, customerId, id]]);
    },
  };
}

export function insertKey(key: ApiKey, digest: Uint8Array): BoundStatement {
  const scopes = key.scopes.toSorted().join(' ');
  return insert('api_keys', `${keyColumns}, digest`, { ...key, scopes, digest });
}

type Fields = Readonly<Record<string, Value | undefined>>;

function insert(table: string, columns: string, record: Fields): BoundStatement {
  const values = columns.split(', ').map((column) => record[column] ?? null);
  const numbers = values.map((_, index) => `$${index + 1}`);
  return [`insert into ${table} (${columns}) values (${numbers.join(', ')})`, ...values];
}

/** Removes fields that are null: an optional field without a value is absent. */
export function withoutNulls(row: Row): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
