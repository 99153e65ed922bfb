/**
 * The peers: what a team would write or use instead. Each answers the same brands in pages of 50. They check
 * no key, count no requests and seal no cursor, which is in their favor.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { say } from '../../../lib/program.ts';
import { type Listener, startListener } from '../../lib/processes.ts';
import { pageRecords } from '../requests.ts';

export interface Peer {
  /** As the table shows it. */
  readonly name: string;
  /** In bench/peers. */
  readonly file: string;
  /** Reads our tables in Postgres, or a JSON file of brands. */
  readonly takes: 'postgres' | 'json';
  readonly firstPage: string;
  laterPage(place: Place): string;
}

/** The start of a page: the number of brands before it, and the id of the last of them. */
interface Place {
  readonly brandsBefore: number;
  readonly after: string;
}

/** The folder of their package.json and node_modules. */
const folder = fileURLToPath(new URL('../..', import.meta.url));
const listing = `/network/v1/brands?limit=${pageRecords}`;

const onPostgres = {
  takes: 'postgres',
  firstPage: listing,
  laterPage: ({ after }: Place) => `${listing}&after=${encodeURIComponent(after)}`,
} as const;

const numberedPage = (number: number) => `/brands?_page=${number}&_limit=${pageRecords}`;

export const peers: readonly Peer[] = [
  { name: 'Fastify with Kysely', file: 'fastify-kysely.js', ...onPostgres },
  { name: 'Hono with Drizzle', file: 'hono-drizzle.js', ...onPostgres },
  { name: 'Express with TypeORM', file: 'express-typeorm.js', ...onPostgres },
  { name: 'Express with Sequelize', file: 'express-sequelize.js', ...onPostgres },
  {
    name: 'json-server',
    file: 'json-server.js',
    takes: 'json',
    firstPage: numberedPage(1),
    laterPage: ({ brandsBefore }) => numberedPage(Math.floor(brandsBefore / pageRecords) + 1),
  },
];

interface PeerData {
  readonly databaseUrl: string;
  readonly partnerId: string;
  /** Written by same-pages.ts. */
  readonly brandsFile: string;
  /** The origin of the placeholder image of brands without an image. */
  readonly publicUrl: string;
}

export function startPeer({ file, takes }: Peer, data: PeerData): Promise<Listener> {
  return startListener([join(folder, 'peers', file)], {
    PARTNER_ID: data.partnerId,
    PUBLIC_URL: data.publicUrl,
    ...(takes === 'postgres' ? { DATABASE_URL: data.databaseUrl } : { DATA_FILE: data.brandsFile }),
  });
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
