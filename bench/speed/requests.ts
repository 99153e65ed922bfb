/** What contenders are asked for: of each kind many, which differ in partner, page or customer. */
import { newApiKey } from '../../packages/server/src/auth/api-key.ts';
import { ask } from './ask.ts';
import { brandsIn, type Partner, type Size } from './data.ts';
import type { Request } from './load.ts';

export const pageRecords = 50;
const brandsPath = '/network/v1/brands';
/** Pages for a walk are as large as they may be; a cursor is good for pages of any size. */
const largestPage = 100;
const middlePagesOfPartner = 64;
const unknownKeyCount = 1_000;

export function firstPages(partners: readonly Partner[]): Request[] {
  return partners.map(({ key }) => ({ path: brandsPath, key }));
}

/** The pages around the middle, by the cursors that the service itself gives out on the way there. */
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
      if (page >= first) found.push({ path: `${brandsPath}?cursor=${cursor}`, key });
      const path = `${brandsPath}?limit=${largestPage}${cursor && `&cursor=${cursor}`}`;
      cursor = JSON.parse((await ask(port, { path, key })).body).cursor;
    }
  }
  return found;
}

/** One balance each, by its grant. */
export function oneBalances(partners: readonly Partner[]): Request[] {
  return partners.flatMap(({ key, customers }) =>
    customers.map(({ id, grantId }) => ({
      path: `/network/v1/balances?customer_id=${id}&type=CHECKING&grant_id=${grantId}`,
      key,
    })),
  );
}

/** Keys that are well formed, so that only the database can tell that nobody has them. */
export function unknownKeys(): Request[] {
  return Array.from({ length: unknownKeyCount }, () => ({ path: brandsPath, key: newApiKey('production') }));
}

/** All are answered with a whole page of brands and a cursor for the next one, or with one balance. */
export async function requirePages(port: number, requests: readonly Request[]): Promise<void> {
  for (const request of requests) {
    const { status, body } = await ask(port, request);
    const { brands, balances, cursor } = status === 200 ? JSON.parse(body) : {};
    const isPage = brands?.length === pageRecords && typeof cursor === 'string';
    if (!isPage && balances?.length !== 1) throw new Error(`It answered ${status} and not with a page.`);
  }
}
