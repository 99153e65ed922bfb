/** `migrate --distribute`: spreads the tables of a database over the nodes of a Citus cluster. */
import { OperatorError } from '@partner-network/common/errors';
import { type Client, DatabaseError } from 'pg';
import { indexScansOnly } from '../connections/connection.ts';
import { inTransaction } from '../migrate.ts';
import { hasCitus, places, tablesOf } from './tables.ts';

const insufficientPrivilege = '42501';

/**
 * Settings of the role, because those of a session do not reach the other nodes. Without open connections to
 * each node, a batch of receipts or of a feed would open one for each shard, which takes 400 ms.
 */
export const roleSettings = { ...indexScansOnly, 'citus.max_cached_conns_per_worker': '16' };

/** Before anything is changed: rejects a database that cannot be distributed. */
export async function requireDistributable(client: Client): Promise<void> {
  const asSuperuser = 'Run as a superuser:';
  if (!(await hasCitus(client))) {
    throw nothingChanged(`this database has no Citus. ${asSuperuser} create extension citus; on all nodes.`);
  }
  const { rows } = await client.query(`
    select bool_or(groupid = 0) as has_coordinator, bool_or(groupid <> 0) as has_workers
    from pg_dist_node where isactive and noderole = 'primary'`);
  if (!rows[0].has_workers) {
    throw nothingChanged(`this database has no nodes. ${asSuperuser} select citus_add_node('HOST', PORT);`);
  }
  if (!rows[0].has_coordinator) {
    const remedy = `${asSuperuser} select citus_set_coordinator_host('HOST', PORT);`;
    throw nothingChanged(`the nodes do not know the address of the coordinator. ${remedy}`);
  }
  const moveData = 'Use a new database, and move the data with "export" and "import".';
  const { local, wrong } = await tablesOf(client);
  if (wrong.length > 0) throw nothingChanged(`Citus keeps ${wrong.join(', ')} in another way. ${moveData}`);
  const filled = [];
  for (const name of local) if (await hasRows(client, name)) filled.push(name);
  if (filled.length > 0) throw nothingChanged(`there are rows in ${filled.join(', ')}. ${moveData}`);
}

function nothingChanged(reason: string): OperatorError {
  return new OperatorError(`Nothing was changed: ${reason}`);
}

/** Distributing rows would lock the table for as long as it takes to copy them. Partners are few. */
async function hasRows(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query('select to_regclass($1) is not null as exists', [name]);
  if (places[name] === 'every node' || !rows[0].exists) return false;
  return (await client.query(`select from ${name} limit 1`)).rowCount === 1;
}

/** Distributes the tables that are still local, in one transaction. */
export async function distribute(client: Client): Promise<void> {
  const { local } = await tablesOf(client);
  try {
    await inTransaction(client, async () => {
      // The trigger of grants reads and changes only its own row.
      await client.query('set local citus.enable_unsafe_triggers = on');
      for (const name of local) await client.query(distributing(name));
      for (const name of Object.keys(places)) await client.query(clearing(name));
      for (const setting of settingsOfRole(client)) await client.query(setting);
    });
  } catch (error) {
    await client.query('rollback');
    if (!(error instanceof DatabaseError)) throw error;
    const remedy = error.code === insufficientPrivilege ? ' Use the role that owns the tables.' : '';
    throw new OperatorError(`The tables were not distributed: ${error.message}.${remedy}`);
  }
}

function distributing(name: string): string {
  const place = places[name]!;
  if (place === 'every node') return `select create_reference_table('${name}')`;
  const { by, beside = 'none' } = place;
  return `select create_distributed_table('${name}', '${by}', colocate_with => '${beside}')`;
}

/** Citus copies rows to the nodes, and leaves invisible copies of them on the coordinator's disk. */
function clearing(name: string): string {
  return `
    select truncate_local_data_after_distributing_table('${name}') where pg_relation_size('${name}') > 0`;
}

function settingsOfRole(client: Client): string[] {
  const role = `alter role current_user in database ${client.escapeIdentifier(client.database!)}`;
  return Object.entries(roleSettings).map(([name, value]) => `${role} set ${name} = ${value}`);
}
