import { postgresBounds } from '@partner-network/common/bounds/store';
import { StoreUnavailable } from '../../port.ts';
import type { Sql } from '../../sql/statement.ts';

/**
 * Reads rows of a table that belong to a partner or a customer, all of them on one node. `read` calls `begun`
 * when it has a connection.
 */
export type OnNode = <Result>(
  table: 'brands' | 'balances',
  value: string,
  read: (begun: () => void) => Promise<Result>,
) => Promise<Result>;

/**
 * Keeps a node that does not answer from taking all connections, which the other nodes need too. After
 * `slowNodeMs` without an answer, a node gets at most `most` connections until it answers again. Only
 * meanwhile a read has to ask for its node first, which takes 0.3 ms.
 */
export function limitSlowNodes(ask: Sql['rows'], most: number): OnNode {
  const slow = new Map<unknown, { readonly id: unknown; reads: number }>();
  // Without an answer the coordinator itself is gone, which the read reports.
  const nodeOf = (table: string, value: string) =>
    ask(nodesOf, table, JSON.stringify([value])).then(
      ([row]) => row?.node,
      () => undefined,
    );

  return async (table, value, read) => {
    let node = slow.size === 0 ? undefined : slow.get(await nodeOf(table, value));
    let isOver = false;
    if (node !== undefined) {
      if (node.reads >= most) throw new StoreUnavailable('A node of the database does not answer.');
      node.reads += 1;
    }
    let timer: NodeJS.Timeout | undefined;
    const noteSlow = async () => {
      const id = await nodeOf(table, value);
      if (isOver || node !== undefined || id === undefined) return;
      node = slow.get(id) ?? { id, reads: 0 };
      slow.set(id, node);
      node.reads += 1;
    };
    // The wait for a connection does not count: other nodes may cause it.
    const begun = () => (timer = setTimeout(noteSlow, postgresBounds.slowNodeMs));
    try {
      const result = await read(begun);
      if (node !== undefined) slow.delete(node.id);
      return result;
    } finally {
      isOver = true;
      clearTimeout(timer);
      if (node !== undefined) node.reads -= 1;
    }
  };
}

/**
 * $1 a distributed table, $2 a JSON list of values of its distribution column: the node of each value. Reads
 * the coordinator's catalog only, so it works while a node is down.
 */
export const nodesOf = `
  select value, groupid as node
  from (
    select value, get_shard_id_for_distribution_column($1::text::regclass, value) as shardid
    from json_array_elements_text($2) offset 0
  ) as listed
  join pg_dist_placement using (shardid)`;
