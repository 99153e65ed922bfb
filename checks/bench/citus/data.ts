/** Brands, balances and grants with ids as the service issues them, the same for each database. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { listBalances, listBrands } from '@partner-network/contract/operations';
import { formatId } from '../../../packages/common/src/ids.ts';
import { toTime } from '../../../packages/common/src/times.ts';
import { digestOfKey, newApiKey } from '../../../packages/service/src/auth/api-key.ts';
import { parseDatabaseUrl } from '../../../packages/store/src/address.ts';
import { openStore } from '../../../packages/store/src/engines.ts';
import { temporaryFolder } from '../../../packages/testkit/fixtures/folder.ts';
import { run } from '../../../packages/testkit/fixtures/run.ts';
import { wholeRun } from '../../lib/program.ts';
import type { Request } from '../lib/connection.ts';

export const kinds = ['brands', 'balances', 'grants'] as const;
type Kind = (typeof kinds)[number];

const brandsOfPartner = 1_000;
const receiptsOfBatch = 1_000;
const startMs = Date.UTC(2026, 0, 1);
const byBench = { actor: 'bench', action: 'sandbox' } as const;

function idOf(prefix: string, number: number): string {
  const digest = createHash('md5').update(`${prefix}${number}`).digest('hex').slice(0, 16);
  return formatId(prefix, startMs + number * 100, 0, digest);
}

const timesOf = (number: number) => ({
  created_at: toTime(startMs + number * 100),
  updated_at: toTime(startMs + number * 200),
});
const partnerOf = (number: number, rows: number) => idOf('PARTNER', number % (rows / brandsOfPartner));

const records: Readonly<Record<Kind, (number: number, rows: number) => object>> = {
  brands: (number, rows) => ({
    id: idOf('BRAND', number),
    partner_id: partnerOf(number, rows),
    name: `Golden Bakery of Springfield ${number % 97}`,
    reference_id: `store-${String(number).padStart(6, '0')}`,
    color: '#336699',
    profile_image_url: `https://images.example.com/logos/${idOf('LOGO', number)}.png`,
    metadata: { category: 'food', region: 'us-east', segment: `seg-${number % 997}` },
    ...timesOf(number),
  }),
  // Each customer has one balance and one grant.
  balances: (number) => ({
    id: idOf('BAL', number),
    customer_id: idOf('CUSTOMER', number),
    type: 'CHECKING',
    currency: 'USD',
    amount: ((number * 7_919) % 2_000_000) - 100_000,
    ...timesOf(number),
  }),
  grants: (number, rows) => ({
    id: idOf('GRANT', number),
    partner_id: partnerOf(number, rows),
    customer_id: idOf('CUSTOMER', number),
    expires_at: '2030-01-01T00:00:00.000Z',
    ...timesOf(number),
  }),
};

/** Creates the schema, and partners with the same keys in each database. Returns the keys. */
export async function createAccess(
  databases: readonly { readonly url: string; readonly isSpread: boolean }[],
  rows: number,
): Promise<string[]> {
  const keys = Array.from({ length: rows / brandsOfPartner }, () => newApiKey('production'));
  const { created_at } = timesOf(0);
  for (const { url, isSpread } of databases) {
    const store = await openStore(parseDatabaseUrl(url)!, 'production', isSpread ? 'distribute' : 'migrate');
    for (const [number, key] of keys.entries()) {
      const partner_id = idOf('PARTNER', number);
      await store.createPartner({ id: partner_id, name: `Partner ${number}`, created_at }, byBench);
      const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;
      const row = { id: idOf('KEY', number), partner_id, scopes, created_at, last_four: key.slice(-4) };
      await store.createKey(row, digestOfKey(key), byBench);
    }
    await store.close();
  }
  return keys;
}

export async function writeFiles(rows: number): Promise<Record<Kind, string>> {
  const folder = temporaryFolder(wholeRun);
  const fileOf = (kind: Kind) => join(folder, `${kind}.jsonl`);
  for (const kind of kinds) {
    const lines = function* () {
      for (let number = 0; number < rows; number += 1)
        yield `${JSON.stringify(records[kind](number, rows))}\n`;
    };
    await pipeline(lines, createWriteStream(fileOf(kind)));
  }
  return { brands: fileOf('brands'), balances: fileOf('balances'), grants: fileOf('grants') };
}

export async function importFile(url: string, kind: Kind, file: string): Promise<void> {
  const { status, stderr } = await run(['import', kind, file, '--database', url]);
  if (status !== 0) throw new Error(stderr);
}

export async function writeReceipts(url: string, rows: number): Promise<void> {
  const store = await openStore(parseDatabaseUrl(url)!, 'production', 'command');
  for (let first = 0; first < rows; first += receiptsOfBatch) {
    const batch = Array.from({ length: receiptsOfBatch }, (_, index) => {
      // In the order of requests, not of customers.
      const number = ((first + index) * 7_919) % rows;
      return {
        at: toTime(startMs + first * 10),
        request_id: crypto.randomUUID(),
        partner_id: partnerOf(number, rows),
        key_id: idOf('KEY', number % (rows / brandsOfPartner)),
        customer_id: idOf('CUSTOMER', number),
        grant_id: idOf('GRANT', number),
        outcome: 'GRANTED',
      };
    });
    await store.recordReceipts(batch);
  }
  await store.close();
}

/** The first page of brands of each partner, and the balance of many customers. */
export function requestsOf(keys: readonly string[], rows: number): Record<string, Request[]> {
  const customers = Array.from({ length: 4_000 }, (_, index) => (index * 7_919) % rows);
  return {
    '50 brands': keys.map((key) => ({ path: listBrands.path, key })),
    'one balance': customers.map((number) => ({
      path: `${listBalances.path}?customer_id=${idOf('CUSTOMER', number)}&type=CHECKING`,
      key: keys[number % keys.length]!,
    })),
  };
}
