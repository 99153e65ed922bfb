/** The requests that contenders get: many of each kind, with different partners, pages or customers. */
import { listBalances, listBrands } from '@partner-network/contract/operations';
import { newApiKey } from '../../../packages/service/src/auth.ts';
import type { Partner } from '../lib/data.ts';
import type { Request } from '../lib/load.ts';
import { ask } from './ask.ts';
import { brandsIn, type Size } from './services.ts';

export const pageRecords = 50;
/** The page size of a walk to the middle; a cursor is valid for pages of any size. */
const largestPage = 100;
const middlePagesOfPartner = 64;
const unknownKeyCount = 1_000;

export function firstPages(partners: readonly Partner[]): Request[] {
  return partners.map(({ key }) => ({ path: listBrands.path, key }));
}

/** The pages around the middle, with the cursors that the service returns on the way. */
export async function middlePages(
  port: number,
  partners: readonly Partner[],
  size: Size,
): Promise<Request[]> {
  const pages = brandsIn[size] / partners.length / largestPage;
  const wanted = Math.min(middlePagesOfPartner, Math.floor(pages / 2));
  const first = Math.floor((pages - wanted) / 2);
  const found: Request[] = [];
  for (const { key } of partners) {
    let cursor = '';
    for (let page = 0; page < first + wanted; page += 1) {
      if (page >= first) found.push({ path: `${listBrands.path}?cursor=${cursor}`, key });
      const path = `${listBrands.path}?limit=${largestPage}${cursor && `&cursor=${cursor}`}`;
      cursor = JSON.parse((await ask(port, { path, key })).body).cursor;
    }
  }
  return found;
}

export function oneBalances(partners: readonly Partner[]): Request[] {
  return partners.flatMap(({ key, customers }) =>
    customers.map(({ id, grantId }) => ({
      path: `${listBalances.path}?customer_id=${id}&type=CHECKING&grant_id=${grantId}`,
      key,
    })),
  );
}

/** Well-formed keys with a valid checksum, so that the database must look them up. */
export function unknownKeys(): Request[] {
  return Array.from({ length: unknownKeyCount }, () => ({
    path: listBrands.path,
    key: newApiKey('production'),
  }));
}

/** Checks that every request is answered with a full page of brands and a cursor, or with one balance. */
export async function requirePages(port: number, requests: readonly Request[]): Promise<void> {
  for (const request of requests) {
    const { status, body } = await ask(port, request);
    const { brands, balances, cursor } = status === 200 ? JSON.parse(body) : {};
    const isPage = brands?.length === pageRecords && typeof cursor === 'string';
    if (!isPage && balances?.length !== 1)
      throw new Error(`The service answered with status ${status} instead of a page.`);
  }
}
