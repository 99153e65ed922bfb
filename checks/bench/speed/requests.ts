/** The requests that contenders get: many of each kind, with different partners, pages or customers. */
import { Agent, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { listBalances, listBrands } from '@partner-network/contract/operations';
import { newApiKey } from '../../../packages/service/src/auth.ts';
import { wholeRun } from '../../lib/program.ts';
import type { Partner } from '../lib/data.ts';
import type { Request } from '../lib/load.ts';

/** The default of the service. */
export const pageRecords = 50;
const unknownKeyCount = 1_000;

export interface Answer {
  readonly status: number;
  /** Names and values in turn, as they were sent. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Keeps its connections, as the load does: Node sends other headers on a connection that it will close. */
const agent = new Agent({ keepAlive: true });
wholeRun.after(() => agent.destroy());

export async function ask(port: number, { path, key }: Request): Promise<Answer> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers, agent }, resolve).on('error', reject);
  });
  return { status: response.statusCode!, headers: response.rawHeaders, body: await text(response) };
}

export function firstPages(partners: readonly Partner[]): Request[] {
  return partners.map(({ key }) => ({ path: listBrands.path, key }));
}

/** All pages but the first and the last, with the cursors that the service returns on the way. */
export async function middlePages(port: number, partners: readonly Partner[]): Promise<Request[]> {
  const found: Request[] = [];
  for (const { key } of partners) {
    let path: string = listBrands.path;
    while (true) {
      const { cursor } = JSON.parse((await ask(port, { path, key })).body);
      if (cursor === undefined) break;
      path = `${listBrands.path}?cursor=${cursor}`;
      found.push({ path, key });
    }
    // The last page has no cursor, which saves work.
    found.pop();
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
