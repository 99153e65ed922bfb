/** A real primary and two real streaming standbys, which follow it, fall behind, die and come back. */
import assert from 'node:assert/strict';
import { before, describe, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from 'pg';
import { digestOfKey } from '../../src/api-key.ts';
import { openStore, parseDatabaseUrl } from '../../src/store/open.ts';
import type { Page, Store } from '../../src/store/port.ts';
import { serveOptions } from '../support/database.ts';
import { fillFixture, future, keys } from '../support/fixture.ts';
import {
  caughtUp,
  connectTo,
  emptyDatabaseOn,
  freshCluster,
  type PostgresServer,
  startPostgres,
  startStandby,
  wholeFile,
  withoutOwnServers,
} from '../support/postgres.ts';
import { until } from '../support/until.ts';

const database = 'network';
const limitMs = 20_000;
let primary: PostgresServer;
let standbys: [PostgresServer, PostgresServer];

/** The primary's brands all have the version as their name; a transaction gives all of them the next one. */
interface Scene {
  readonly store: Store;
  readonly writer: Client;
  write(): Promise<number>;
  /** On one standby. */
  execute(standby: PostgresServer, statement: string): Promise<void>;
}

async function openScene(t: TestContext): Promise<Scene> {
  const replicas = standbys.map((standby) => standby.url(database));
  const address = parseDatabaseUrl(primary.url(database))!;
  const store = await openStore(address, 'sandbox', 'serve', { ...serveOptions, replicas });
  t.after(() => store.close());
  const writer = await connectTo(t, primary.url(database));
  let version = 0;
  return {
    store,
    writer,
    write: async () => {
      version += 1;
      await writer.query(`update brands set name = $1 where partner_id = 'acme'`, [String(version)]);
      return version;
    },
    execute: async (standby, statement) => {
      const client = await connectTo(t, standby.url(database));
      await client.query(statement);
    },
  };
}

function readings(store: Store, metric: string): number[] {
  return store.metrics
    .find(({ name }) => name.endsWith(metric))!
    .read()
    .map(({ value }) => value);
}

const used = (store: Store) => readings(store, 'replica_used');
const pagesOfReplicas = (store: Store) => readings(store, 'replica_pages_total');

function pageAfter(store: Store, after: string, moment = 0n, limit = 1): Promise<Page> {
  return store.listBrands({ partnerId: 'acme', referenceId: undefined, after, limit, moment });
}

function versionOf({ records }: Page): number {
  return Number(JSON.parse(`[${records.replaceAll('\u0001', '')}]`)[0].name);
}

async function readVersion(store: Store): Promise<number> {
  return versionOf(await pageAfter(store, ''));
}

describe('replicas', { skip: withoutOwnServers() }, () => {
  before(async () => {
    primary = await startPostgres(wholeFile);
    await emptyDatabaseOn(primary, database);
    const store = await openStore(parseDatabaseUrl(primary.url(database))!, 'sandbox', 'migrate');
    await fillFixture(store);
    await store.close();
    standbys = [await startStandby(wholeFile, primary), await startStandby(wholeFile, primary)];
  });

  test('brands are read from the replicas; keys, grants and balances from the primary', async (t) => {
    const { store } = await openScene(t);
    await until(limitMs, () => used(store).every((isUsed) => isUsed === 1));
    for (let round = 0; round < 20; round += 1) {
      await pageAfter(store, '');
      await store.findKey(digestOfKey(keys.acme));
      const who = { partnerId: 'acme', customerId: 'alice', type: 'CHECKING', grantId: undefined };
      const answer = await store.listBalances({ ...who, at: future, after: '', limit: 1 });
      assert.equal(answer.grant, 'ACTIVE');
    }
    assert.ok(pagesOfReplicas(store).every((pages) => pages > 0));
    // A connection that ends has told the server's statistics what it did.
    await store.close();
    for (const standby of standbys) {
      const client = await connectTo(t, standby.url(database));
      const scans = async (table: string) => {
        const { rows } = await client.query(
          `select seq_scan + idx_scan as scans from pg_stat_user_tables where relname = $1`,
          [table],
        );
        return Number(rows[0].scans);
      };
      await until(limitMs, async () => (await scans('brands')) > 0);
      for (const table of ['api_keys', 'partners', 'grants', 'balances']) assert.equal(await scans(table), 0);
    }
  });

  test('what a replica shows is never more than a second old, however far behind it is', async (t) => {
    const { store, write, execute } = await openScene(t);
    await until(limitMs, () => used(store).every((isUsed) => isUsed === 1));
    const [late, other] = standbys;
    const commits: { version: number; atMs: number }[] = [];
    let isWriting = true;
    const writing = (async () => {
      while (isWriting) {
        const version = await write();
        commits.push({ version, atMs: performance.now() });
        await wait(10);
      }
    })();
    t.after(() => execute(late, 'select pg_wal_replay_resume()'));

    let oldestMs = 0;
    async function readRightly(): Promise<void> {
      const askedMs = performance.now();
      const version = await readVersion(store);
      const missed = commits.find((commit) => commit.version > version);
      if (missed !== undefined) oldestMs = Math.max(oldestMs, askedMs - missed.atMs);
    }

    await until(limitMs, () => commits.length > 3);
    await execute(late, 'select pg_wal_replay_pause()');
    await until(limitMs, async () => {
      await readRightly();
      return used(store)[0] === 0;
    });
    const [pagesBefore] = pagesOfReplicas(store);
    const othersBefore = pagesOfReplicas(store)[1]!;
    for (let round = 0; round < 50; round += 1) await readRightly();
    assert.equal(pagesOfReplicas(store)[0], pagesBefore, 'it is left out');
    assert.ok(pagesOfReplicas(store)[1]! > othersBefore, 'the other one serves');
    assert.ok(oldestMs > 100, 'the replica was seen to fall behind');
    assert.ok(oldestMs <= 1_000, `something was ${oldestMs} ms old`);

    await execute(late, 'select pg_wal_replay_resume()');
    await until(limitMs, async () => {
      await readRightly();
      return used(store)[0] === 1;
    });
    assert.ok(oldestMs <= 1_000, `something was ${oldestMs} ms old`);
    isWriting = false;
    await writing;
    await caughtUp(late, primary);
    await caughtUp(other, primary);
    t.diagnostic(`the oldest that was read: ${Math.round(oldestMs)} ms`);
  });

  test('a replica that is cut off is left out, though it knows of nothing that it lacks', async (t) => {
    const { store, write, execute } = await openScene(t);
    await until(limitMs, () => used(store).every((isUsed) => isUsed === 1));
    const [cut] = standbys;
    const { primary_conninfo } = await conninfoOf(t, cut);
    const reload = async (value: string) => {
      await execute(cut, `alter system set primary_conninfo = '${value}'`);
      await execute(cut, 'select pg_reload_conf()');
    };
    t.after(() => reload(primary_conninfo));
    await reload('host=127.0.0.1 port=1');
    await until(limitMs, async () => !(await isStreaming(t, cut)));
    const version = await write();
    await until(limitMs, () => used(store)[0] === 0);
    assert.equal(await readVersion(store), version);
    await reload(primary_conninfo);
    await until(limitMs, () => used(store)[0] === 1);
  });

  test('a walk never goes back in time, while both replicas fall behind and catch up by turns', async (t) => {
    const { store, write, execute } = await openScene(t);
    await until(limitMs, () => used(store).every((isUsed) => isUsed === 1));
    const ends = performance.now() + 5_000;
    const isGoing = () => performance.now() < ends;

    async function writeOn(): Promise<void> {
      while (isGoing()) await write();
    }
    async function stumble(standby: PostgresServer, restMs: number): Promise<void> {
      while (isGoing()) {
        await execute(standby, 'select pg_wal_replay_pause()');
        await wait(restMs);
        await execute(standby, 'select pg_wal_replay_resume()');
        await wait(restMs);
      }
    }
    let walks = 0;
    let pages = 0;
    async function walkOn(): Promise<void> {
      while (isGoing()) {
        let latest = 0;
        let page = await pageAfter(store, '');
        for (;;) {
          const version = versionOf(page);
          assert.ok(version >= latest, `from version ${latest} back to ${version}`);
          latest = version;
          pages += 1;
          if (page.next === undefined) break;
          await wait(2);
          page = await pageAfter(store, page.next, page.moment);
        }
        walks += 1;
      }
    }
    const walkers = Array.from({ length: 4 }, walkOn);
    await Promise.all([writeOn(), stumble(standbys[0], 120), stumble(standbys[1], 70), ...walkers]);
    const served = pagesOfReplicas(store);
    assert.ok(walks > 50 && served.every((count) => count > 50), `${walks} walks, ${served} pages`);
    t.diagnostic(`${pages} pages in ${walks} walks; ${served.join(' and ')} of them by the replicas`);
    for (const standby of standbys) await caughtUp(standby, primary);
  });

  test('a replica that is killed or frozen costs nobody an answer, and comes back by itself', async (t) => {
    const { store, write } = await openScene(t);
    const isUsedIs = (index: number, expected: number) =>
      until(limitMs, () => used(store)[index] === expected);
    await until(limitMs, () => used(store).every((isUsed) => isUsed === 1));
    let longestMs = 0;
    let isGoing = true;
    const reading = (async () => {
      while (isGoing) {
        const startedMs = performance.now();
        await readVersion(store);
        longestMs = Math.max(longestMs, performance.now() - startedMs);
        await wait(1);
      }
    })();
    const [first, second] = standbys;
    await first.kill();
    await isUsedIs(0, 0);
    second.freeze();
    t.after(() => second.thaw());
    await isUsedIs(1, 0);
    const version = await write();
    assert.equal(await readVersion(store), version, 'with none left, the primary serves');
    second.thaw();
    await first.start();
    await Promise.all([isUsedIs(0, 1), isUsedIs(1, 1)]);
    isGoing = false;
    await reading;
    assert.ok(longestMs < 2_000, `${longestMs} ms`);
    t.diagnostic(`the longest that somebody waited: ${Math.round(longestMs)} ms`);
  });

  test('a standby of another cluster is no replica, however far its log is', async (t) => {
    const stranger = await startPostgres(t, {}, freshCluster());
    await emptyDatabaseOn(stranger, database);
    const itsStore = await openStore(parseDatabaseUrl(stranger.url(database))!, 'sandbox', 'migrate');
    await fillFixture(itsStore);
    await itsStore.close();
    const replicas = [await startStandby(t, stranger), standbys[0]].map((server) => server.url(database));
    const address = parseDatabaseUrl(primary.url(database))!;
    const store = await openStore(address, 'sandbox', 'serve', { ...serveOptions, replicas });
    t.after(() => store.close());
    await until(limitMs, () => used(store)[1] === 1);
    for (let round = 0; round < 20; round += 1) await readVersion(store);
    assert.deepEqual(used(store), [0, 1]);
    assert.deepEqual(pagesOfReplicas(store), [0, 20]);
  });

  test('a server that is no standby is left out, and one that is down at first taken in later', async (t) => {
    const [first, second] = standbys;
    await first.kill();
    const address = parseDatabaseUrl(primary.url(database))!;
    const replicas = [first, primary, second].map((server) => server.url(database));
    const store = await openStore(address, 'sandbox', 'serve', { ...serveOptions, replicas });
    t.after(() => store.close());
    await until(limitMs, () => used(store)[2] === 1);
    assert.deepEqual(used(store), [0, 0, 1]);
    await first.start();
    await until(limitMs, () => used(store)[0] === 1);
    assert.deepEqual(used(store), [1, 0, 1]);
  });
});

async function conninfoOf(t: TestContext, standby: PostgresServer): Promise<{ primary_conninfo: string }> {
  return (await (await connectTo(t, standby.url())).query('show primary_conninfo')).rows[0];
}

async function isStreaming(t: TestContext, standby: PostgresServer): Promise<boolean> {
  const { rows } = await (await connectTo(t, standby.url())).query('select 1 from pg_stat_wal_receiver');
  return rows.length > 0;
}
