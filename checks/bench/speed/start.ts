/** Time from the start of `serve` to its first answer, and of --version, compared with Node alone. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { killAfter, temporaryFolder } from '../../../packages/testkit/fixtures/lifetime.ts';
import { installServer, packServer } from '../../../packages/testkit/package/installed.ts';
import { freePort } from '../../../packages/testkit/servers/free-port.ts';
import { openBundle } from '../../../test/image/bundle.ts';
import { say, wholeRun } from '../../lib/program.ts';
import type { Request } from '../lib/load.ts';
import type { Rounds } from '../lib/quiet.ts';
import type { Measurement } from '../lib/report.ts';
import { ask } from './requests.ts';

const retryMs = 1;
const mostRetries = 30_000;

/** A program, and how its users start it. */
interface Started {
  readonly name: 'package' | 'image';
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly database: string;
}

const executable = 'bin/partner-network.js';
const path = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };

function installedPackage(database: string): Started {
  const folder = temporaryFolder(wholeRun);
  const installed = installServer(packServer(folder), join(folder, 'installed'));
  return { name: 'package', words: [join(installed, executable)], env: path, database };
}

/** The files of the image, as its user, without a container around them. They can keep no compiled code. */
function image(database: string): Started {
  const { rootfs, process } = openBundle(wholeRun);
  const { uid, gid } = process.user;
  const owner = `${uid}:${gid}`;
  const file = database.replace(/^sqlite:/, '');
  execFileSync('cp', [...globSync(`${file}*`), `${rootfs}/data`]);
  execFileSync('chown', ['-R', owner, `${rootfs}/data`]);
  // A start reads nothing else there.
  mkdirSync(`${rootfs}/proc/self`, { recursive: true });
  execFileSync('cp', ['/proc/self/limits', `${rootfs}/proc/self`]);
  const words = ['/usr/sbin/chroot', `--userspec=${owner}`, rootfs, ...process.args];
  const env = Object.fromEntries(process.env.map((variable) => variable.split('=')));
  return { name: 'image', words, env, database: `sqlite:/data/${basename(file)}` };
}

async function timeNode(...words: string[]): Promise<number> {
  const startedMs = performance.now();
  await once(spawn(process.execPath, words, { env: {}, stdio: 'ignore' }), 'exit');
  return performance.now() - startedMs;
}

async function timeServe({ words, env, database }: Started, request: Request): Promise<number> {
  const port = await freePort();
  const operations = await freePort();
  const flags = ['serve', '--database', database, '--port', String(port), '--ops-port', String(operations)];
  const [program = '', ...rest] = [...words, ...flags];
  const startedMs = performance.now();
  const child = spawn(program, rest, { env, stdio: 'ignore' });
  const ended = (killAfter(wholeRun, child) as Promise<[number | null]>).then(([status]) => {
    if (status !== 0) throw new Error(`serve ended with status ${status}.`);
  });
  const status = await Promise.race([firstStatus(port, request), ended]);
  const tookMs = performance.now() - startedMs;
  if (status !== 200) throw new Error(`The first answer of serve was ${status}.`);
  // SIGINT skips the drain delay.
  child.kill('SIGINT');
  await ended;
  return tookMs;
}

/** Retries while the connection is refused. */
async function firstStatus(port: number, request: Request): Promise<number> {
  for (let retries = 0; ; retries += 1) {
    try {
      return (await ask(port, request)).status;
    } catch (fault) {
      if (retries === mostRetries) throw fault;
      await wait(retryMs);
    }
  }
}

/** How many times as long as Node alone a start may take, and "--version" of the package. */
const mostOfNode = { start: 4.5, version: 2 };

/** The first start does not count: it keeps the compiled code that later starts use. */
export async function measureStart(
  database: string,
  request: Request,
  roundCount: number,
  rounds: Rounds,
): Promise<Measurement[]> {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) say('The image is left out: only root can start its files as its user.');
  const installed = installedPackage(database);
  const started = isRoot ? [installed, image(database)] : [installed];
  const alone = 'node -e 0';
  const kinds: readonly { name: string; atMost?: number; time(): Promise<number> }[] = [
    { name: alone, time: () => timeNode('-e', '0') },
    {
      name: '--version, package',
      atMost: mostOfNode.version,
      time: () => timeNode(...installed.words, '--version'),
    },
    ...started.map((program) => ({
      name: `start to first answer, ${program.name}`,
      atMost: mostOfNode.start,
      time: () => timeServe(program, request),
    })),
  ];
  const figures = kinds.map((): number[] => []);
  const measureRound = async () => {
    const found: number[] = [];
    for (const { time } of kinds) found.push(await time());
    return found;
  };
  await measureRound();
  for (let round = 1; round <= roundCount; round += 1) {
    const found = await rounds.quiet(measureRound);
    for (const [index, figure] of found.entries()) figures[index]!.push(figure);
  }
  return kinds.map(({ name, atMost }, index) => ({
    ...{ name, figures: figures[index]!, unit: 'ms' },
    ...(atMost !== undefined && { over: alone, atMost }),
  }));
}
