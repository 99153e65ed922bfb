/** A Citus cluster for tests: a coordinator and two workers on this machine. */
import type { Lifetime } from '../fixtures/lifetime.ts';
import type { PostgresServer } from '../servers/postgres-process.ts';
import {
  joinNodes,
  onEachNode,
  type Settings,
  startPostgres,
  withDatabase,
} from '../servers/postgres-start.ts';

export interface CitusCluster {
  readonly coordinator: PostgresServer;
  readonly workers: readonly PostgresServer[];
  /** The URLs of all nodes, the coordinator's first. */
  readonly nodes: readonly string[];
  /** Creates a database with Citus on all nodes. Returns its URL on the coordinator. */
  createDatabase(name: string): Promise<string>;
}

const clusterSettings: Settings = {
  shared_preload_libraries: 'citus',
  // With TLS, the cluster takes twice the time to start and to connect.
  'citus.node_conninfo': 'sslmode=disable',
  // Citus commits on several nodes in two phases.
  max_prepared_transactions: '200',
  // Every database with Citus has a process of its own on each node.
  max_worker_processes: '100',
  // A shard is moved by logical replication.
  wal_level: 'logical',
  max_replication_slots: '40',
};

/** Starts a cluster, which is removed after the test. The programs must have Citus: see programs.ts. */
export async function startCluster(t: Lifetime, settings: Settings = {}): Promise<CitusCluster> {
  const start = () => startPostgres(t, { ...clusterSettings, ...settings });
  const coordinator = await start();
  const workers = [await start(), await start()];
  const nodes = [coordinator, ...workers].map((server) => server.url());
  return {
    coordinator,
    workers,
    nodes,
    createDatabase: async (name) => {
      await onEachNode(nodes, `create database ${name} template template0`);
      await joinNodes(nodes, name);
      return withDatabase(nodes[0]!, name);
    },
  };
}
