/** Which tables Citus distributes, and how it distributes them now. */
import type { Client } from 'pg';
import { Unusable } from '../../sql/schema.ts';

/** The column whose value decides on the node of a row, and a table whose rows are on the same nodes. */
type Place = { readonly by: string; readonly beside?: string } | 'every node';

/** Partners are on every node, because brands and grants refer to them. */
export const places: Readonly<Record<string, Place>> = {
  partners: 'every node',
  brands: { by: 'partner_id' },
  deleted_brands: { by: 'partner_id', beside: 'brands' },
  grants: { by: 'customer_id' },
  balances: { by: 'customer_id', beside: 'grants' },
  receipts: { by: 'customer_id', beside: 'grants' },
  deleted_balances: { by: 'customer_id', beside: 'grants' },
  erased_customers: { by: 'customer_id', beside: 'grants' },
};

/** These tables stay on the coordinator, so that a key can be revoked while another node is down. */
export const onCoordinator = [
  'admin_keys',
  'api_keys',
  'audit_log',
  'cursor_keys',
  'ended_sessions',
  'key_uses',
  'session_keys',
  'settings',
  'usage',
];

/** Tables that are distributed as they must be, not distributed, or distributed in another way. */
export type Tables = Readonly<Record<'distributed' | 'local' | 'wrong', readonly string[]>>;

/** Each node has its own log, and a page would have to be compared with all of them. */
export const replicasOfCitus = () =>
  new Unusable(
    'Replicas cannot be read on a database with Citus, whose nodes each have a log of their own',
    'leave out --replica, and add nodes',
  );

export async function hasCitus(client: Client): Promise<boolean> {
  const { rows } = await client.query(`select from pg_extension where extname = 'citus'`);
  return rows.length > 0;
}

/** A reference table has the replication model "t". A table without a column is local. */
const howDistributed = `
  select name, colocationid as colocation,
    case when repmodel = 't' then 'every node' else column_to_column_name(logicalrelid, partkey) end as by
  from unnest($1::text[]) as name join pg_dist_partition on logicalrelid = to_regclass(name)`;

export async function tablesOf(client: Client): Promise<Tables> {
  const names = Object.keys(places);
  const { rows } = await client.query(howDistributed, [[...names, ...onCoordinator]]);
  const found = new Map(rows.filter(({ by }) => by !== null).map((row) => [row.name as string, row]));
  const isRight = (name: string) => {
    const place = places[name];
    const row = found.get(name);
    if (place === undefined || row === undefined) return place === row;
    if (place === 'every node') return row.by === place;
    const { by, beside = name } = place;
    return row.by === by && row.colocation === found.get(beside)?.colocation;
  };
  return {
    distributed: names.filter((name) => found.has(name) && isRight(name)),
    local: names.filter((name) => !found.has(name)),
    wrong: [...found.keys()].filter((name) => !isRight(name)),
  };
}
