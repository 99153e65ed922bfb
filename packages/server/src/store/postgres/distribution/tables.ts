/** Which tables Citus distributes, and how it distributes them now. */
import type { Client } from 'pg';
import type { Fault } from '../../sql/schema.ts';

type Place = { readonly by: string; readonly beside?: string } | 'every node';

/**
 * Where the rows of a table are: on the node of a column's value, beside the rows of another table with the
 * same value, or on every node. All other tables stay on the coordinator, so that a key can be revoked while
 * another node is down. Partners are on every node, because brands and grants refer to them.
 */
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

/** Tables that are distributed as they must be, not distributed, or distributed in another way. */
export type Tables = Readonly<Record<'distributed' | 'local' | 'wrong', readonly string[]>>;

/** Each node has its own log, and a page would have to be compared with all of them. */
export const replicasOfCitus: Fault = {
  fact: 'Replicas cannot be read on a database with Citus, whose nodes each have a log of their own',
  remedy: 'leave out --replica, and add nodes instead',
};

export async function hasCitus(client: Client): Promise<boolean> {
  const { rows } = await client.query(`select from pg_extension where extname = 'citus'`);
  return rows.length > 0;
}

/** A reference table has no column, and the replication model "t". A table with neither is local. */
const howDistributed = `
  select c.relname as name, p.colocationid as colocation,
    case when p.repmodel = 't' then 'every node' else column_to_column_name(c.oid, p.partkey) end as by
  from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
  where c.relnamespace = 'public'::regnamespace`;

export async function tablesOf(client: Client): Promise<Tables> {
  const { rows } = await client.query(howDistributed);
  const found = new Map(rows.filter(({ by }) => by !== null).map((row) => [row.name as string, row]));
  const names = Object.keys(places);
  const isRight = (name: string) => {
    const [place, row] = [places[name]!, found.get(name)];
    if (place === 'every node') return row?.by === place;
    const beside = place.beside === undefined ? row : found.get(place.beside);
    return row !== undefined && row.by === place.by && row.colocation === beside?.colocation;
  };
  return {
    distributed: names.filter(isRight),
    local: names.filter((name) => !found.has(name)),
    wrong: [...found.keys()].filter((name) => !(name in places && isRight(name))),
  };
}
