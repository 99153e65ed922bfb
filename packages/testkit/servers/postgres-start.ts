/** Starts servers and standbys for one test, and removes them after it. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { type Lifetime, unprivileged } from '../fixtures/lifetime.ts';
import { freePort } from './free-port.ts';
import { type PostgresServer, removeServer, serverIn } from './postgres-process.ts';
import { howToGetPrograms, programsFolder } from './postgres-programs.ts';

export type Settings = Readonly<Record<string, string>>;

/**
 * Without fsync, so a crash of the machine may lose data. A crash of the server may not: synchronous_commit
 * stays on.
 */
const testSettings: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  wal_level: 'replica',
  max_wal_senders: '10',
  wal_keep_size: '256MB',
  hot_standby: 'on',
  // How long a standby waits before it retries; the default of 5 s would delay tests.
  wal_retrieve_retry_interval: '100ms',
  // In the data folder, so that it is removed with a server that was killed.
  dynamic_shared_memory_type: 'mmap',
};

/** Why servers cannot be started here, for the `skip` option of a test. */
export function withoutOwnServers(): string | false {
  return programsFolder() === undefined ? howToGetPrograms : false;
}

/** Starts a server for one test. It owns the data folder from now on. */
export async function startPostgres(
  t: Lifetime,
  settings: Settings = {},
  folder: string = newCluster(),
): Promise<PostgresServer> {
  let server: PostgresServer | undefined;
  afterAllElse(t, async () => {
    await server?.stop('immediate');
    removeServer({ folder });
  });
  const port = await freePort();
  const lines = Object.entries({ ...testSettings, ...settings, port: String(port) });
  appendFileSync(
    join(folder, 'postgresql.conf'),
    lines.map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`).join(''),
  );
  giveToServerUser(folder);
  server = serverIn(folder, port);
  await server.start();
  return server;
}

/** Starts a streaming standby. Resolves when it has caught up. */
export async function startStandby(
  t: Lifetime,
  primary: PostgresServer,
  settings: Settings = {},
): Promise<PostgresServer> {
  const folder = newFolder();
  afterAllElse(t, async () => rmSync(folder, { recursive: true, force: true }));
  await copyRunning(primary, folder);
  writeFileSync(join(folder, 'standby.signal'), '');
  const from = `host=127.0.0.1 port=${primary.port} user=postgres`;
  const standby = await startPostgres(t, { primary_conninfo: from, ...settings }, folder);
  await caughtUp(standby, primary);
  return standby;
}

/** Resolves when the standby accepts writes. */
export async function promote(standby: PostgresServer): Promise<void> {
  await ask(standby, 'select pg_promote()');
}

/** Resolves when the standby has replayed everything that the primary has written until now. */
export async function caughtUp(standby: PostgresServer, primary: PostgresServer): Promise<void> {
  const { position } = await ask(primary, 'select pg_current_wal_flush_lsn()::text as position');
  const isBehind = `select pg_last_wal_replay_lsn() < '${position}'::pg_lsn is not false as behind`;
  while ((await ask(standby, isBehind)).behind) await wait(10);
}

function ask(server: PostgresServer, query: string): Promise<Record<string, unknown>> {
  return onConnection(server.url(), async (client) => (await client.query(query)).rows[0]);
}

/** Connects for a piece of work. */
export async function onConnection<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs the work after all other hooks of the test, which close connections to a server before it ends. */
export function afterAllElse(t: Lifetime, work: () => Promise<void>): void {
  t.after(() => t.after(work));
}

/** Copies a running server by the low-level API, because the npm package has no pg_basebackup. */
function copyRunning(primary: PostgresServer, folder: string): Promise<void> {
  return onConnection(primary.url(), async (client) => {
    await client.query(`select pg_backup_start('standby', true)`);
    // The standby streams the log. The other files belong to the running server.
    const skipped = /^(pg_wal|pg_replslot|pg_dynshmem|pg_stat_tmp|pg_subtrans)\/|^postmaster\.|^server\.log$/;
    cpSync(primary.folder, folder, {
      recursive: true,
      filter: (path) => !skipped.test(relative(primary.folder, path)),
    });
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
    writeFileSync(join(folder, 'backup_label'), rows[0].labelfile);
  });
}

/** Copies a cluster that initdb made once for the run: 50 ms instead of 500. All have the same identifier. */
export function newCluster(given?: string): string {
  process.env.TEST_POSTGRES_TEMPLATE ??= freshCluster();
  const folder = given ?? newFolder();
  cpSync(process.env.TEST_POSTGRES_TEMPLATE, folder, { recursive: true });
  return folder;
}

/** A cluster with its own identifier. */
export function freshCluster(): string {
  const programs = programsFolder();
  if (programs === undefined) throw new Error(howToGetPrograms);
  const folder = newFolder();
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  giveToServerUser(folder);
  const words = `-D ${folder} -U postgres --auth=trust --encoding=UTF8 --locale=C --no-sync`.split(' ');
  const options = { ...unprivileged, cwd: folder, env: {}, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(join(programs, 'initdb'), words, options);
  if (status !== 0) throw new Error(`initdb failed: ${stdout}${stderr}`);
  return folder;
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'partner-network-postgres-'));
}

function giveToServerUser(folder: string): void {
  chmodSync(folder, 0o700);
  if (unprivileged === undefined) return;
  for (const name of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    chownSync(join(folder, name), unprivileged.uid, unprivileged.gid);
  }
}

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
