/** A real Redis for tests: at TEST_REDIS_URL, or started for a test and stopped after it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type Lifetime, temporaryFolder, unprivileged, until } from '../fixtures/lifetime.ts';
import { freePort } from './free-port.ts';
import { programsOnPath } from './programs.ts';

export type OwnRedis = Awaited<ReturnType<typeof startRedis>>;

const sharedUrl = process.env.TEST_REDIS_URL;
const foldersOfBrew = ['/opt/homebrew/bin', '/usr/local/bin', '/home/linuxbrew/.linuxbrew/bin'];
const [program] = programsOnPath(['redis-server', 'valkey-server'], foldersOfBrew);
const howToGetOne = 'needs redis-server or valkey-server (apt-get install redis-server, brew install redis)';
const isShared = sharedUrl !== undefined && program === undefined;
const notOurs = isShared ? ': a test cannot stop the Redis at TEST_REDIS_URL' : '';
const skipWithoutOwn = program === undefined && howToGetOne + notOurs;
const skipWithoutAny =
  program === undefined && sharedUrl === undefined && `${howToGetOne}, or TEST_REDIS_URL`;

/** Options of a test that needs a Redis. Without a Redis the test is skipped. */
export const needsRedis = { timeout: 60_000, skip: skipWithoutAny };

/** Options of a test that stops its Redis, or needs it for itself. */
export const needsOwnRedis = { timeout: 60_000, skip: skipWithoutOwn };

/** A Redis that other tests may use at the same time. */
export async function redisUrl(t: TestContext): Promise<string> {
  return sharedUrl ?? (await startRedis(t)).url;
}

/** A connection to read or change the data of a Redis. */
export function redisClient(t: TestContext, url: string): Redis {
  // The Redis may end before the test does.
  const redis = new Redis(url).on('error', () => {});
  t.after(() => redis.disconnect());
  return redis;
}

/** Starts a Redis that only this test uses. */
export async function startRedis(t: Lifetime, flags: readonly string[] = []) {
  const folder = temporaryFolder(t);
  if (unprivileged !== undefined) chownSync(folder, unprivileged.uid, unprivileged.gid);
  const port = await freePort();
  let running = await launch(port, folder, flags);
  t.after(() => running.kill());
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    /** Ends it with SIGKILL. It has no files, so its data is lost. */
    kill: () => running.kill(),
    start: async () => {
      running = await launch(port, folder, flags);
    },
    pid: () => running.pid,
    /** Connections stay open, and nothing is answered. */
    freeze: () => process.kill(running.pid, 'SIGSTOP'),
    thaw: () => process.kill(running.pid, 'SIGCONT'),
  };
}

const slotsOfCluster = 16_384;

/**
 * Starts a Redis Cluster of `count` primaries without replicas, each with the same number of slots. A node
 * that is lost takes only its own slots with it.
 */
export async function startRedisCluster(t: Lifetime, count: number) {
  const nodes = await Promise.all(Array.from({ length: count }, () => startNode(t)));
  for (const [index, { ask }] of nodes.entries()) {
    const first = (start: number) => Math.ceil((start * slotsOfCluster) / count);
    await ask('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    await ask('CLUSTER', 'ADDSLOTSRANGE', first(index), first(index + 1) - 1);
    if (index > 0) await nodes[0]!.ask('CLUSTER', 'MEET', '127.0.0.1', nodes[index]!.port, nodes[index]!.bus);
  }
  const knowsAll = async ({ ask }: ClusterNode) =>
    /state:ok\s.*cluster_slots_ok:16384\s.*cluster_size:(\d+)/s.exec(
      String(await ask('CLUSTER', 'INFO')),
    )?.[1] === String(count);
  await until(30_000, async () => (await Promise.all(nodes.map(knowsAll))).every(Boolean));
  const url = `redis-cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  return { url, nodes };
}

export type ClusterNode = Awaited<ReturnType<typeof startNode>>;

async function startNode(t: Lifetime) {
  const bus = await freePort();
  const redis = await startRedis(t, [
    ...['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-node-timeout', '2000'],
    ...['--cluster-require-full-coverage', 'no', '--cluster-announce-ip', '127.0.0.1'],
  ]);
  const client = new Redis(redis.url).on('error', () => {});
  t.after(() => client.disconnect());
  return {
    ...redis,
    bus,
    /** Its name in the cluster. */
    id: String(await client.call('CLUSTER', 'MYID')),
    ask: (command: string, ...words: (string | number)[]) => client.call(command, ...words),
  };
}

/** The shell reads until this process ends, even by SIGKILL, and then ends Redis. */
const guard = '"$@" > redis.log 2>&1 & echo $!; read -r _; kill -9 $!; wait';

async function launch(port: number, folder: string, more: readonly string[]) {
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('sh', ['-c', guard, 'sh', program!, ...flags, ...more, '--dir', folder], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'ignore'],
    ...unprivileged,
  });
  const ended = once(child, 'close');
  const [printed] = await once(child.stdout, 'data');
  await untilAnswering(port, folder);
  return {
    pid: Number.parseInt(String(printed), 10),
    kill: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

async function untilAnswering(port: number, folder: string): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    if (await isAnswering(port)) return;
    await wait(10);
  }
  throw new Error(`Redis does not start: ${readFileSync(join(folder, 'redis.log'), 'utf8')}`);
}

function isAnswering(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('error', () => resolve(false));
    socket.once('data', (answer) => {
      socket.destroy();
      resolve(String(answer).startsWith('+PONG'));
    });
  });
}
