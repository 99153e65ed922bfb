/** Checks that a peer answers the same pages as our service: otherwise the comparison is meaningless. */
import { writeFile } from 'node:fs/promises';
import type { Request } from '../../lib/connection.ts';
import { ask } from '../ask.ts';
import { pageRecords } from '../requests.ts';
import type { Peer } from './peer-processes.ts';

export interface Brand {
  readonly id: string;
  readonly [field: string]: unknown;
}

export interface BrandsPage {
  readonly brands: readonly Brand[];
  readonly cursor?: string;
}

export async function readOurPages(port: number, key: string): Promise<BrandsPage[]> {
  const pages: BrandsPage[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ limit: String(pageRecords), ...(cursor && { cursor }) });
    const page = (await readJson(port, { path: `/network/v1/brands?${query}`, key })) as BrandsPage;
    pages.push(page);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return pages;
}

/** Writes all brands for json-server. */
export function writeBrandsFile(file: string, pages: readonly BrandsPage[]): Promise<void> {
  return writeFile(file, JSON.stringify({ brands: pages.flatMap(({ brands }) => brands) }));
}

/** Compares the first page and one in the middle. Resolves to the difference, or undefined. */
export async function differenceOfPeer(
  peer: Peer,
  port: number,
  pages: readonly BrandsPage[],
): Promise<string | undefined> {
  const middle = Math.floor(pages.length / 2);
  const after = String(pages[middle - 1]?.brands.at(-1)?.id);
  const asked: [page: BrandsPage, path: string][] = [
    [pages[0]!, peer.firstPage],
    [pages[middle]!, peer.laterPage({ brandsBefore: middle * pageRecords, after })],
  ];
  for (const [ours, path] of asked) {
    const answer = await readJson(port, { path });
    // json-server returns a bare list; the other peers return the last id as the cursor.
    const theirs = peer.takes === 'json' ? { brands: answer as Brand[] } : (answer as BrandsPage);
    const cursor = peer.takes === 'json' || ours.cursor === undefined ? undefined : ours.brands.at(-1)?.id;
    const difference = differenceOf({ brands: ours.brands, cursor }, theirs);
    if (difference !== undefined) return `${peer.name} does not answer what we do to ${path}: ${difference}.`;
  }
  return undefined;
}

/** The order of fields counts, too, because it changes the bytes. */
export function differenceOf(ours: BrandsPage, theirs: BrandsPage): string | undefined {
  if (theirs.brands.length !== ours.brands.length) {
    return `${theirs.brands.length} brands instead of ${ours.brands.length}`;
  }
  for (const [index, brand] of ours.brands.entries()) {
    const [wanted, found] = [JSON.stringify(brand), JSON.stringify(theirs.brands[index])];
    if (found !== wanted) return `as brand ${index + 1} ${found} instead of ${wanted}`;
  }
  if (theirs.cursor !== ours.cursor) return `the cursor ${theirs.cursor} instead of ${ours.cursor}`;
  return undefined;
}

async function readJson(port: number, request: Request): Promise<unknown> {
  const { status, body } = await ask(port, request);
  if (status !== 200) throw new Error(`${request.path} was answered with ${status}.`);
  return JSON.parse(body);
}
