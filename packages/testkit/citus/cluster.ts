/** A Citus cluster for tests: a coordinator and two workers on this machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Lifetime } from '../fixtures/lifetime.ts';
import type { PostgresServer } from '../servers/postgres-process.ts';
import { foldersOfPrograms, oldestVersion, versionIn } from '../servers/postgres-programs.ts';
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

/** Starts a cluster, which is removed after the test. The programs must have Citus: see `findCitus`. */
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

/** The version that this is tested with, and the newest Postgres that it supports. */
export const testedVersion = '12.1';
const newestPostgres = 16;

/** Whether a Postgres with Citus is installed. From then on, servers are started with its programs. */
export function findCitus(): boolean {
  const folder = candidates().find((each) => {
    const program = configProgram(each);
    const { stdout } = spawnSync(program, ['--pkglibdir'], { encoding: 'utf8' });
    // Without the headers of the server, it has no pg_config.
    return existsSync(join(stdout?.trim() || join(program, '../../lib'), 'citus.so'));
  });
  if (folder !== undefined) process.env.TEST_POSTGRES_PROGRAMS = folder;
  return folder !== undefined;
}

/** The program `pg_config` of a Postgres for which Citus can be built. */
export function configForCitus(): string | undefined {
  const supported = candidates().filter((folder) => versionIn(folder) <= newestPostgres);
  return supported.map(configProgram).find((path) => existsSync(path));
}

function candidates(): string[] {
  const given = process.env.TEST_POSTGRES_PROGRAMS;
  return (given ? [given] : foldersOfPrograms()).filter((folder) => versionIn(folder) >= oldestVersion);
}

/** A folder of programs may have links to some of them only. */
function configProgram(folder: string): string {
  return join(dirname(realpathSync(join(folder, 'postgres'))), 'pg_config');
}
