/** A primary with two streaming standbys, and a store that reads from them. */
import type { TestContext } from 'node:test';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import {
  connectTo,
  emptyDatabaseOn,
  type PostgresServer,
  startPostgres,
  startStandby,
  wholeFile,
} from '../../../testkit/servers/postgres.ts';
import { fillDatabase, openServing } from '../../../testkit/service/database.ts';
import type { Page, Store } from '../../src/port.ts';

export const database = 'network';
export const limitMs = 20_000;

export interface Replicated {
  readonly primary: PostgresServer;
  readonly standbys: readonly [PostgresServer, PostgresServer];
}

export async function startReplicated(): Promise<Replicated> {
  const primary = await startPostgres(wholeFile);
  await fillOn(primary);
  return {
    primary,
    standbys: [await startStandby(wholeFile, primary), await startStandby(wholeFile, primary)],
  };
}

/** Creates a database with the fixture. */
export async function fillOn(server: PostgresServer, name = database): Promise<void> {
  await emptyDatabaseOn(server, name);
  await fillDatabase(server.url(name));
}

export function openOn(
  t: TestContext,
  primary: PostgresServer,
  servers: readonly PostgresServer[],
): Promise<Store> {
  const replicas = servers.map((server) => server.url(database));
  return openServing(t, primary.url(database), { replicas });
}

/** Grows from test to test, because they share their servers. */
let version = 0;

/** A store that uses both replicas. */
export async function openScene(t: TestContext, { primary, standbys }: Replicated) {
  const writer = await connectTo(t, primary.url(database));
  const store = await openOn(t, primary, standbys);
  await until(limitMs, () => areAllUsed(store));
  return {
    store,
    /** Gives all brands the next version as their name, in one transaction. */
    write: async () => {
      version += 1;
      await writer.query(`update brands set name = $1 where partner_id = 'acme'`, [String(version)]);
      return version;
    },
    /** Runs a statement on a standby. */
    execute: async (standby: PostgresServer, statement: string) => {
      const client = await connectTo(t, standby.url(database));
      return (await client.query(statement)).rows;
    },
  };
}

function readings(store: Store, metric: string): number[] {
  return store.metrics
    .find(({ name }) => name.endsWith(metric))!
    .read()
    .map(({ value }) => value);
}

export const used = (store: Store) => readings(store, 'replica_used');
export const areAllUsed = (store: Store) => used(store).every((isUsed) => isUsed === 1);
export const pagesOfReplicas = (store: Store) => readings(store, 'replica_pages_total');

export function pageAfter(store: Store, after: string, walPosition = 0n, limit = 1): Promise<Page> {
  return store.listBrands({ partnerId: 'acme', referenceId: undefined, after, limit, walPosition });
}

export function versionOf({ records }: Page): number {
  return Number(JSON.parse(`[${records.replaceAll('\u0001', '')}]`)[0].name);
}

export async function readVersion(store: Store): Promise<number> {
  return versionOf(await pageAfter(store, ''));
}

/** The address of a proxy in front of a database. */
export function withPort(url: string, port: number): string {
  const through = new URL(url);
  through.port = String(port);
  return through.href;
}

/** The number of times that `roundTrips` does its work. */
export const rounds = 20;

/** The smallest count of many, because the service also checks its servers some times a second. */
export async function roundTrips(requests: () => number, work: () => Promise<unknown>): Promise<number> {
  let smallest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const before = requests();
    await work();
    smallest = Math.min(smallest, requests() - before);
  }
  return smallest;
}
