/** Time from the start of `serve` to its first answer, compared with an empty Node program. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { killAfter, temporaryFolder } from '../../../packages/testkit/fixtures/lifetime.ts';
import { installServer, packServer } from '../../../packages/testkit/package/installed.ts';
import { freePort } from '../../../packages/testkit/servers/free-port.ts';
import { openBundle } from '../../../test/image/bundle.ts';
import { say, wholeRun } from '../../lib/program.ts';
import type { Request } from '../lib/load.ts';
import type { Measurement } from '../lib/report.ts';
import { ask } from './requests.ts';

const retryMs = 1;
const mostRetries = 30_000;

/** A program, and how its users start it. */
interface Started {
  readonly name: 'checkout' | 'package' | 'image';
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly database: string;
}

const executable = 'bin/partner-network.js';
const path = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };

function checkout(database: string): Started {
  const folder = fileURLToPath(new URL('../../../packages/partner-network', import.meta.url));
  return { name: 'checkout', words: [join(folder, executable)], env: path, database };
}

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

async function timeNode(): Promise<number> {
  const startedMs = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { env: {}, stdio: 'ignore' }), 'exit');
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

/** How many times as long as Node alone a start may take. A checkout also resolves names of packages. */
const mostOfNode = { checkout: 5, package: 4.5, image: 4.5 } as const;

/** The first start does not count: it keeps the compiled code that later starts use. */
export async function measureStart(
  database: string,
  request: Request,
  rounds: number,
): Promise<Measurement[]> {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) say('The image is left out: only root can start its files as its user.');
  const started = [checkout, installedPackage, ...(isRoot ? [image] : [])].map((make) => make(database));
  const alone = { name: 'node -e 0', figures: [] as number[], unit: 'ms' };
  const served = started.map((program) => ({ program, figures: [] as number[] }));
  for (let round = 0; round <= rounds; round += 1) {
    const aloneMs = await timeNode();
    if (round > 0) alone.figures.push(aloneMs);
    for (const { program, figures } of served) {
      const tookMs = await timeServe(program, request);
      if (round > 0) figures.push(tookMs);
    }
  }
  const measured = served.map(({ program: { name }, figures }) => ({
    name: `start to first answer, ${name}`,
    figures,
    unit: 'ms',
    over: alone.name,
    atMost: mostOfNode[name],
  }));
  return [alone, ...measured];
}
