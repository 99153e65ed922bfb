/** Checks that a peer answers the same pages as our service: otherwise the comparison is meaningless. */
import type { Request } from '../../lib/connection.ts';
import { ask } from '../ask.ts';
import { pageRecords } from '../requests.ts';

export interface BrandsPage {
  readonly brands: readonly { readonly id: string; readonly [field: string]: unknown }[];
  readonly cursor?: string;
}

export const firstPage = `/network/v1/brands?limit=${pageRecords}`;

export async function readOurPages(port: number, key: string): Promise<BrandsPage[]> {
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

/** Compares the bytes of the first and a middle page. Resolves to the difference, or undefined. */
export async function differenceOfPeer(
  name: string,
  port: number,
  pages: readonly BrandsPage[],
): Promise<string | undefined> {
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
    return `${name} answers ${path} differently from our service: ${answer}`;
  }
  return undefined;
}

async function bodyOf(port: number, request: Request): Promise<string> {
  const { status, body } = await ask(port, request);
  if (status !== 200) throw new Error(`${request.path} was answered with ${status}.`);
  return body;
}
