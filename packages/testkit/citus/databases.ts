/** Databases on all nodes of a Citus cluster. The first node is the coordinator, the others are workers. */
import { setTimeout as wait } from 'node:timers/promises';
import { onConnection } from '../servers/postgres-start.ts';

/** URLs of a superuser, each with the node's address and any of its databases. */
export type Nodes = readonly string[];

/** Runs statements on each node. */
export async function onEachNode(nodes: Nodes, ...statements: string[]): Promise<void> {
  const run = (url: string) =>
    onConnection(url, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  await Promise.all(nodes.map(run));
}

/** Installs Citus in an empty database that exists on each node, and adds the workers to the coordinator. */
export async function joinNodes(nodes: Nodes, database: string): Promise<void> {
  const urls = nodes.map((url) => withDatabase(url, database));
  await onEachNode(urls, 'create extension citus');
  await onConnection(nodes[0]!, async (locked) => {
    // Adding a node changes roles there, and fails if another database of the cluster does so meanwhile.
    await locked.query('select pg_advisory_lock(1)');
    await onConnection(urls[0]!, async (client) => {
      for (const [index, url] of urls.entries()) {
        const { hostname, port } = new URL(url);
        const add = index === 0 ? 'citus_set_coordinator_host' : 'citus_add_node';
        await client.query(`select ${add}($1, $2)`, [hostname, port]);
      }
    });
  });
}

/**
 * Ends all connections to a database, also those of Citus itself, so that it can be copied or dropped. Both
 * lock the database, and a process of Citus does not end while it waits to connect to it.
 */
export async function closeToConnections(nodes: Nodes, database: string): Promise<void> {
  await onEachNode(nodes, `alter database ${database} allow_connections false`);
  const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`;
  const close = (url: string) =>
    onConnection(url, async (client) => {
      while ((await client.query(end)).rowCount !== 0) await wait(5);
    });
  await Promise.all(nodes.map(close));
}

export function withDatabase(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = database;
  return url.href;
}
