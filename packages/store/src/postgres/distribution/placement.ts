/**
 * $1 a distributed table, $2 a JSON list of values of its distribution column: the node of each value. Reads
 * the coordinator's catalog only, so it works while a node is down.
 */
export const nodesOf = `
  select value, groupid as node
  from (
    select value, get_shard_id_for_distribution_column($1::text::regclass, value) as shardid
    from json_array_elements_text($2) offset 0
  ) as given
  join pg_dist_placement using (shardid)`;
