/** Checks that a peer answers the same pages as our service: otherwise the comparison is meaningless. */
import { writeFile } from 'node:fs/promises';
import type { Request } from '../../lib/connection.ts';
import { ask } from '../ask.ts';
import { pageRecords } from '../requests.ts';
import type { Peer } from './peer-processes.ts';

export interface BrandsPage {
  readonly brands: readonly { readonly id: string; readonly [field: string]: unknown }[];
  readonly cursor?: string;
}

export async function readOurPages(port: number, key: string): Promise<BrandsPage[]> {
  const pages: BrandsPage[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ limit: String(pageRecords), ...(cursor && { cursor }) });
    const page: BrandsPage = JSON.parse(await bodyOf(port, { path: `/network/v1/brands?${query}`, key }));
    pages.push(page);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return pages;
}

/** Writes all brands for json-server. */
export function writeBrandsFile(file: string, pages: readonly BrandsPage[]): Promise<void> {
  return writeFile(file, JSON.stringify({ brands: pages.flatMap(({ brands }) => brands) }));
}

/** Compares the bytes of the first and a middle page. Resolves to the difference, or undefined. */
export async function differenceOfPeer(
  peer: Peer,
  port: number,
  pages: readonly BrandsPage[],
): Promise<string | undefined> {
  const middle = Math.floor(pages.length / 2);
  const after = String(pages[middle - 1]?.brands.at(-1)?.id);
  const compared: [page: BrandsPage, path: string][] = [
    [pages[0]!, peer.firstPage],
    [pages[middle]!, peer.laterPage({ brandsBefore: middle * pageRecords, after })],
  ];
  for (const [{ brands, cursor }, path] of compared) {
    // json-server returns a bare list; the other peers return the last id as the cursor.
    const page = { brands, cursor: cursor && brands.at(-1)?.id };
    const [expected, found] = [
      peer.takes === 'json' ? brands : page,
      JSON.parse(await bodyOf(port, { path })),
    ];
    if (JSON.stringify(found) === JSON.stringify(expected)) continue;
    const answer = JSON.stringify(found).slice(0, 1_000);
    return `${peer.name} answers ${path} differently from our service: ${answer}`;
  }
  return undefined;
}

async function bodyOf(port: number, request: Request): Promise<string> {
  const { status, body } = await ask(port, request);
  if (status !== 200) throw new Error(`${request.path} was answered with ${status}.`);
  return body;
}
