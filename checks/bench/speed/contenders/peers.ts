/**
 * The peers: what a team would write instead. Each answers the same brands in pages of 50. They check no key,
 * count no requests and seal no cursor, which is in their favor. Of six that we compared, these are the
 * cheapest and the most common.
 */
import { join } from 'node:path';
import type { Request } from '../../lib/load.ts';
import { startListener } from '../../lib/processes.ts';
import { ask } from '../ask.ts';
import { pageRecords } from '../requests.ts';
import { type Contender, type Stage, underLoad } from './contenders.ts';

/** By the name that the table shows: a program in bench/peers. */
const peers = { 'Fastify with Kysely': 'fastify-kysely.js', 'Express with TypeORM': 'express-typeorm.js' };

const folder = join(import.meta.dirname, '../../peers');

/** The peers as contenders, after a check that they answer the same pages. */
export async function peersUnderLoad({ services, generator }: Stage): Promise<Contender[]> {
  const { url, pid: databasePid } = await services.database('postgres', 'small');
  const { port } = await services.service('postgres', 'small');
  const { id, key } = services.partners[0]!;
  const variables = { DATABASE_URL: url, PARTNER_ID: id, PUBLIC_URL: `http://127.0.0.1:${port}` };
  const pages = await readOurPages(port, key);
  const contenders: Contender[] = [];
  for (const [name, file] of Object.entries(peers)) {
    const listener = await startListener([join(folder, file)], variables);
    await requireSamePages(name, listener.port, pages);
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

interface BrandsPage {
  readonly brands: readonly { readonly id: string; readonly [field: string]: unknown }[];
  readonly cursor?: string;
}

const firstPage = `/network/v1/brands?limit=${pageRecords}`;

async function readOurPages(port: number, key: string): Promise<BrandsPage[]> {
  const pages: BrandsPage[] = [];
  let cursor: string | undefined;
  do {
    const path = cursor === undefined ? firstPage : `${firstPage}&cursor=${cursor}`;
    const page: BrandsPage = JSON.parse(await bodyOf(port, { path, key }));
    pages.push(page);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return pages;
}

/** Compares the first and a middle page with ours: otherwise the comparison of costs is meaningless. */
async function requireSamePages(name: string, port: number, pages: readonly BrandsPage[]): Promise<void> {
  const middle = Math.floor(pages.length / 2);
  const after = String(pages[middle - 1]?.brands.at(-1)?.id);
  const compared: [page: BrandsPage, path: string][] = [
    [pages[0]!, firstPage],
    [pages[middle]!, `${firstPage}&after=${encodeURIComponent(after)}`],
  ];
  for (const [{ brands, cursor }, path] of compared) {
    // The cursor of a peer is the last id.
    const expected = { brands, cursor: cursor && brands.at(-1)?.id };
    const found = JSON.parse(await bodyOf(port, { path }));
    if (JSON.stringify(found) === JSON.stringify(expected)) continue;
    const answer = JSON.stringify(found).slice(0, 1_000);
    throw new Error(`${name} answers ${path} differently from our service: ${answer}`);
  }
}

async function bodyOf(port: number, request: Request): Promise<string> {
  const { status, body } = await ask(port, request);
  if (status !== 200) throw new Error(`${request.path} was answered with ${status}.`);
  return body;
}
