/**
 * Real Postgres for tests. Databases are created on a server that all tests share: the server at
 * TEST_DATABASE_URL, or a server that is started for the run. Tests that kill, freeze or promote a server
 * start their own. Programs import postgres-start.ts instead: this file adds a hook to node:test.
 *
 * With TEST_CITUS_WORKERS, the URLs of workers, the shared server is the coordinator of a Citus cluster. A
 * database then exists on all nodes under one name. Copies of it work: Citus stores addresses of nodes and
 * identifiers of tables, and a copy has both.
 */

import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import pg from 'pg';
import { toDistribute, toUpdate } from '../../store/src/address.ts';
import { type Lifetime, openLifetime } from '../fixtures/lifetime.ts';
import type { PostgresServer } from './postgres-process.ts';
import {
  afterAllElse,
  closeToConnections,
  joinNodes,
  onEachNode,
  startPostgres,
  withDatabase,
} from './postgres-start.ts';

export type { PostgresServer } from './postgres-process.ts';
export {
  afterAllElse,
  caughtUp,
  freshCluster,
  newCluster,
  promote,
  type Settings,
  startPostgres,
  startStandby,
  withoutOwnServers,
} from './postgres-start.ts';

/** The lifetime of a test file. It ends after all tests, in reverse order. */
export const wholeFile = openLifetime();
after(wholeFile[Symbol.asyncDispose]);

let server: Promise<string> | undefined;

/** `npm test` starts it once and sets the variable. A file that is run alone starts its own. */
function sharedServer(): Promise<string> {
  const given = process.env.TEST_DATABASE_URL;
  server ??= given ? Promise.resolve(given) : startPostgres(wholeFile).then((started) => started.url());
  return server;
}

const workers = process.env.TEST_CITUS_WORKERS?.split(' ') ?? [];

const onCitus = workers.length > 0;

async function nodes(): Promise<string[]> {
  return [await sharedServer(), ...workers];
}

let connections: Promise<pg.Client[]> | undefined;

/** Runs a statement on each node, on one connection for the whole file: another one takes 6 ms of CPU. */
async function onNodes(statement: string): Promise<void> {
  connections ??= nodes().then((urls) => Promise.all(urls.map((url) => connectTo(wholeFile, url))));
  await Promise.all((await connections).map((client) => client.query(statement)));
}

/** For opening a database that gets its schema. */
export const toMigrate = onCitus ? toDistribute : toUpdate;

/** A new empty database on the shared server, dropped after the test. */
export async function emptyDatabase(t: Lifetime, options = ''): Promise<string> {
  const url = await createDatabase(t, `template0 ${options}`);
  if (onCitus) await joinNodes(await nodes(), databaseOf(url));
  return url;
}

/** Options of a database that sorts by the rules of English by default, not by bytes. */
export const sortedByWords = `locale_provider icu icu_locale 'en'`;

const templates = new Map<string, Promise<string>>();

/** A copy of a database that is filled once in a test file. `fill` must close its connections. */
export async function databaseLike(
  t: Lifetime,
  name: string,
  fill: (url: string) => Promise<void>,
  options = '',
): Promise<string> {
  let template = templates.get(name);
  if (template === undefined) {
    template = filledTemplate(fill, options);
    templates.set(name, template);
  }
  return createDatabase(t, await template);
}

async function filledTemplate(fill: (url: string) => Promise<void>, options: string): Promise<string> {
  const url = await emptyDatabase(wholeFile, options);
  await fill(url);
  const name = databaseOf(url);
  if (onCitus) await closeToConnections(await nodes(), name);
  return name;
}

const databaseOf = (url: string) => new URL(url).pathname.slice(1);

async function createDatabase(t: Lifetime, template: string): Promise<string> {
  const name = `partner_network_test_${randomBytes(8).toString('hex')}`;
  // Copied as files: 12 ms, with the drop, instead of 20 to 45 through the log.
  await onNodes(`create database ${name} template ${template} strategy file_copy`);
  afterAllElse(t, async () => {
    // Otherwise the drop on each node waits for connections to the others: 5 s, and then it fails.
    if (onCitus) await closeToConnections(await nodes(), name);
    await onNodes(`drop database ${name} with (force)`);
  });
  return withDatabase(await sharedServer(), name);
}

/** A new empty database on a server that the test started. */
export function emptyDatabaseOn(server: PostgresServer, name: string): Promise<void> {
  return onEachNode([server.url()], `create database ${name} template template0`);
}

/** A client that is closed after the test. */
export async function connectTo(t: Lifetime, url: string, config: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ ...config, connectionString: url });
  // Tests kill servers on purpose. The next query of the client fails then.
  client.on('error', () => {});
  await client.connect();
  t.after(() => client.end());
  return client;
}
