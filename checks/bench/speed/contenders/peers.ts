/**
 * The peers: what a team would write instead. Each answers the same brands in pages of 50. They check no key,
 * count no requests and seal no cursor, which is in their favor. Of six that we compared, these are the
 * cheapest and the most common.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { say } from '../../../lib/program.ts';
import { startListener } from '../../lib/processes.ts';
import { type Contender, type Stage, underLoad } from './contenders.ts';
import { differenceOfPeer, firstPage, readOurPages } from './same-pages.ts';

/** By the name that the table shows: a program in bench/peers. */
const peers = { 'Fastify with Kysely': 'fastify-kysely.js', 'Express with TypeORM': 'express-typeorm.js' };

/** The folder of their package.json and node_modules. */
const folder = fileURLToPath(new URL('../..', import.meta.url));

/** The peers as contenders, after a check that they answer the same pages. */
export async function peersUnderLoad({ services, generator }: Stage): Promise<Contender[]> {
  const { url, pid: databasePid } = await services.database('postgres', 'small');
  const { port } = await services.service('postgres', 'small');
  const { id, key } = services.partners[0]!;
  const variables = { DATABASE_URL: url, PARTNER_ID: id, PUBLIC_URL: `http://127.0.0.1:${port}` };
  const pages = await readOurPages(port, key);
  const contenders: Contender[] = [];
  for (const [name, file] of Object.entries(peers)) {
    const listener = await startListener([join(folder, 'peers', file)], variables);
    const difference = await differenceOfPeer(name, listener.port, pages);
    if (difference !== undefined) throw new Error(difference);
    contenders.push(
      underLoad(generator, {
        id: `peer.${name}`,
        name: `peer: ${name}`,
        floor: 'floor.brands',
        listener,
        requests: [{ path: firstPage }],
        databasePid,
      }),
    );
  }
  return contenders;
}

/** Installs the packages of the peers if they are missing. Returns why that failed, or false. */
export function installPeers(): string | false {
  if (arePeersInstalled()) return false;
  say('Installing the packages of the peers in bench/node_modules, once and for the bench alone (npm ci).');
  const { status, error } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status === 0) return false;
  const cause = error === undefined ? 'see the output of npm above' : error.message;
  return `The packages of the peers could not be installed: ${cause}. Try "npm ci" in bench/.`;
}

/** npm writes node_modules/.package-lock.json at the end of a complete installation. */
function arePeersInstalled(): boolean {
  try {
    const { packages } = readJson('node_modules/.package-lock.json');
    const wanted: [string, string][] = Object.entries(readJson('package.json').dependencies);
    return wanted.every(([name, version]) => packages[`node_modules/${name}`]?.version === version);
  } catch {
    return false;
  }
}

const readJson = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
