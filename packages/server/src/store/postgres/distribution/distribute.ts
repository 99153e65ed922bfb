/** `migrate --distribute`: spreads the tables of a database over the nodes of a Citus cluster. */
import { type Client, DatabaseError } from 'pg';
import { OperatorError } from '../../../lib/operator-error.ts';
import { begin } from '../connections/connection.ts';
import { indexScansOnly } from '../connections/pool.ts';
import { oneNodeAtATime } from '../migrate.ts';
import { hasCitus, places, tablesOf } from './tables.ts';

const insufficientPrivilege = '42501';

/**
 * Settings of the role, because those of a session do not reach the other nodes. Without open connections to
 * each node, a batch of receipts or of a feed would open one for each shard, which takes 400 ms.
 */
export const roleSettings = { ...indexScansOnly, 'citus.max_cached_conns_per_worker': '16' };

/** Before the schema changes: whether this database can be distributed at all. */
export async function requireNodes(client: Client): Promise<void> {
  if (!(await hasCitus(client))) {
    throw new OperatorError(
      'Nothing was changed: this database does not have the extension "citus". ' +
        'Create it as a superuser on all nodes, and add the nodes.',
    );
  }
  const { rows } = await client.query(`
    select count(*) filter (where groupid = 0) as coordinators, count(*) filter (where groupid <> 0) as workers
    from pg_dist_node where isactive and noderole = 'primary'`);
  const { coordinators, workers } = rows[0];
  const remedy =
    workers === '0'
      ? `select citus_add_node('HOST', PORT)`
      : coordinators === '0' && `select citus_set_coordinator_host('HOST', PORT)`;
  if (!remedy) return;
  const what = workers === '0' ? 'no node was added to' : 'the coordinator itself is not a node of';
  throw new OperatorError(`Nothing was changed: ${what} this database. Run as a superuser: ${remedy};`);
}

/** Distributes the tables that are still local, in one transaction. */
export async function distribute(client: Client): Promise<void> {
  const { local, wrong } = await tablesOf(client);
  if (wrong.length > 0) {
    throw new OperatorError(
      `The tables were not distributed: ${wrong.join(', ')} ${are(wrong)} distributed in another way. ` +
        'Use a new database, and move the data with "export" and "import".',
    );
  }
  await requireEmpty(
    client,
    local.filter((name) => places[name] !== 'every node'),
  );
  try {
    await client.query(begin);
    await client.query(oneNodeAtATime);
    // The trigger of grants reads and changes only its own row.
    await client.query('set local citus.enable_unsafe_triggers = on');
    for (const name of local) await client.query(distributing(name), []);
    await clearLocalRows(client);
    for (const [name, value] of Object.entries(roleSettings))
      await client.query(settingOfRole(client, name, value));
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    if (!(error instanceof DatabaseError)) throw error;
    const remedy =
      error.code === insufficientPrivilege ? ' Use the role that owns the database and its tables.' : '';
    throw new OperatorError(`The tables were not distributed: ${error.message}.${remedy}`);
  }
}

function are({ length }: readonly string[]): string {
  return length === 1 ? 'is' : 'are';
}

/** Distributing rows would lock the tables for as long as it takes to copy them. */
async function requireEmpty(client: Client, names: readonly string[]): Promise<void> {
  const filled = [];
  for (const name of names) {
    if ((await client.query(`select from ${name} limit 1`)).rowCount === 1) filled.push(name);
  }
  if (filled.length === 0) return;
  throw new OperatorError(
    `The tables were not distributed: ${filled.join(', ')} already ${filled.length === 1 ? 'has' : 'have'} rows. ` +
      'Distribute an empty database, and move the data with "export" and "import".',
  );
}

function distributing(name: string): string {
  const place = places[name]!;
  if (place === 'every node') return `select create_reference_table('${name}')`;
  const { by, beside = 'none' } = place;
  return `select create_distributed_table('${name}', '${by}', colocate_with => '${beside}')`;
}

/** Citus copies the rows of a table to the nodes, and leaves them invisible on the coordinator's disk. */
async function clearLocalRows(client: Client): Promise<void> {
  const { rows } = await client.query(
    'select logicalrelid::text as name from pg_dist_partition where pg_relation_size(logicalrelid) > 0',
  );
  for (const { name } of rows) {
    await client.query('select truncate_local_data_after_distributing_table($1::regclass)', [name]);
  }
}

function settingOfRole(client: Client, name: string, value: string): string {
  return `alter role current_user in database ${client.escapeIdentifier(client.database!)} set ${name} = '${value}'`;
}
