/** Two regions on this machine, each with a Postgres, a Redis and an instance, and a delay between them. */
import { chmodSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseDatabaseUrl, toUpdate } from '../../packages/store/src/address.ts';
import { openStore } from '../../packages/store/src/engines.ts';
import type { Store } from '../../packages/store/src/port.ts';
import { byTest, fillFixture } from '../../packages/testkit/fixtures/fixture.ts';
import { temporaryFolder, unprivileged } from '../../packages/testkit/fixtures/lifetime.ts';
import { run } from '../../packages/testkit/fixtures/run.ts';
import { createInstance } from '../../packages/testkit/servers/instance.ts';
import { startNetwork } from '../../packages/testkit/servers/network.ts';
import type { PostgresServer } from '../../packages/testkit/servers/postgres-process.ts';
import { programsFolder } from '../../packages/testkit/servers/postgres-programs.ts';
import {
  caughtUp,
  onConnection,
  onEachNode,
  startPostgres,
} from '../../packages/testkit/servers/postgres-start.ts';
import { startRedis } from '../../packages/testkit/servers/redis.ts';
import { openTerminal } from '../../test/documents/clone.ts';
import { openPage } from '../../test/documents/page.ts';
import { pageFor, root } from '../../test/sources.ts';
import { wholeRun } from '../lib/program.ts';

export type Stage = Awaited<ReturnType<typeof startStage>>;

/** pg_rewind needs these. */
const settings = { wal_log_hints: 'on', full_page_writes: 'on' };

/** The page runs commands as the user of the server, who is not root. */
const asServer = unprivileged
  ? `setpriv --reuid=${unprivileged.uid} --regid=${unprivileged.gid} --clear-groups`
  : '';

export function openWorld(url: string): Promise<Store> {
  return openStore(parseDatabaseUrl(url)!, 'sandbox', toUpdate);
}

/** The page "Run in a second region", whose commands the drill runs. */
async function openCommands(folder: string, redisPort: number) {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const terminal = await openTerminal(folder);
  wholeRun.after(terminal.remove);
  const page = openPage(terminal, pageFor('operators', 'second-region'));
  const programs = dirname(realpathSync(join(programsFolder()!, 'initdb')));
  /** Runs the next block, with these ports for db-1 and db-2. */
  const next = (expected: RegExp, ports: readonly number[], data = '') =>
    page.next(expected, (block) => {
      const adapted = block
        .replaceAll(/@db-(\d)\.example/g, (_, number) => `@127.0.0.1:${ports[number - 1]}`)
        .replaceAll(',db-2.example', `,127.0.0.1:${ports[1]}`)
        .replaceAll(/host=db-(\d)\.example/g, (_, number) => `host=127.0.0.1 port=${ports[number - 1]}`)
        .replaceAll('redis-2.example', `127.0.0.1:${redisPort}`)
        .replaceAll('//network@', '//postgres@')
        .replaceAll(/(:\d+)\/network\b/g, '$1/postgres')
        .replaceAll('sudo -u postgres', asServer)
        .replaceAll('/srv/postgres', data);
      return `export ENVIRONMENT=sandbox PATH="$PATH:${programs}"\n${adapted}`;
    });
  return { next, end: page.end };
}

/** Starts the first region, and the second one by the commands of the page. */
export async function startStage(roundTripMs: number, isSynchronous: boolean) {
  const folder = temporaryFolder(wholeRun);
  chmodSync(folder, 0o777);
  const redises = [await startRedis(wholeRun), await startRedis(wholeRun)] as const;
  const commands = await openCommands(folder, redises[1].port);
  const first = await startPostgres(wholeRun, settings);
  const filling = await openWorld(first.url());
  await fillFixture(filling);
  // The clients of the drill send more than the rate.
  await filling.limitPartner('acme', { brands: 10_000 }, byTest);
  await filling.close();
  const { stdout: roles } = await run('roles');
  const login = 'create role network login in role network_serve';
  await onConnection(first.url(), (client) => client.query(`${roles};${login}`));

  /** The way from the second region to the first, and back. */
  const toFirst = await startNetwork(wholeRun, first);
  const copy = join(folder, 'second');
  await commands.next(/^$/, [toFirst.port], copy);
  const second = await startPostgres(wholeRun, settings, copy);
  const toSecond = await startNetwork(wholeRun, second);
  await caughtUp(second, first);
  /** Whether commits in the first region wait for the second. */
  const setSynchronous = async (names: string) => {
    const set = `alter system set synchronous_standby_names = '${names}'`;
    await onEachNode([first.url()], set, 'select pg_reload_conf()');
  };
  if (isSynchronous) await setSynchronous('*');
  for (const way of [toFirst, toSecond]) way.slowDown(roundTripMs / 2);

  /** `serve` with the servers that its region sees, the near one as the replica. */
  const serveIn = (name: string, ports: readonly number[], near: PostgresServer, redis: string) =>
    createInstance(wholeRun, name, join(folder, `${name}.log`), [
      `--database=postgres://network@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/postgres`,
      `--replica=postgres://network@127.0.0.1:${near.port}/postgres`,
      '--environment=sandbox',
      '--public-url=https://network.example',
      '--drain-delay=1',
      `--redis=${redis}`,
    ]);
  const seenFrom = { first: [first.port, toSecond.port], second: [toFirst.port, second.port] } as const;
  const one = await serveIn('one', seenFrom.first, first, redises[0].url);
  const two = await serveIn('two', seenFrom.second, second, redises[1].url);
  await Promise.all([one.start(), two.start()]);
  /** The way of clients to the first region. */
  const toOne = await startNetwork(wholeRun, one);
  const config = readFileSync(join(first.folder, 'postgresql.conf'));
  return {
    commands,
    seenFrom,
    first,
    second,
    one,
    two,
    toFirst,
    setSynchronous,
    /** The ports at which clients outside reach the regions. */
    ports: [toOne.port, two.port] as const,
    cutOff: () => [toFirst, toSecond, toOne].map((way) => way.fallSilent()),
    reconnect: () => [toFirst, toSecond, toOne].map((way) => way.hangUp()),
    /** Stops the old primary for pg_rewind, which cannot write the log, because root has opened it. */
    stopFirst: async () => {
      await first.stop();
      rmSync(join(first.folder, 'server.log'));
    },
    /** pg_rewind has also copied the configuration. Here it is in the folder of the data. */
    startFirst: async () => {
      writeFileSync(join(first.folder, 'postgresql.conf'), config);
      await first.start();
    },
    /** An instance in the second region that counts the rate in the Redis of the first. */
    farFromRedis: async () => {
      const way = await startNetwork(wholeRun, redises[0]);
      way.slowDown(roundTripMs / 2);
      return serveIn('three', seenFrom.second, second, `redis://127.0.0.1:${way.port}`);
    },
  };
}
