/** The data that all contenders answer from: the same on either engine, to the byte. */
import { digestOfKey, newApiKey } from '../../packages/server/src/auth/api-key.ts';
import { importValues } from '../../packages/server/src/ingest/import.ts';
import { parseDatabaseUrl } from '../../packages/server/src/store/address.ts';
import { openStore } from '../../packages/server/src/store/engines.ts';
import type { Store } from '../../packages/server/src/store/port.ts';
import { brandOf } from '../overload/load-service.ts';

/** One may ask 10,000 times a second at the most, which the load would exceed; together they may ask more. */
export const partnerCount = 4;
const customersOfPartner = 64;
const brandsOfPiece = 10_000;
const times = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-02T00:00:00.000Z' };

/** Those of all partners together, of which each has as many as any other. */
export const brandsIn = { small: 10_000, large: 1_000_000 } as const;
export type Size = keyof typeof brandsIn;

export interface Partner {
  readonly id: string;
  readonly key: string;
  /** Each with one balance, and a grant to read it. */
  readonly customers: readonly { readonly id: string; readonly grantId: string }[];
}

/** The keys are new ones: nothing that opens a door is written down here. */
export function newPartners(): Partner[] {
  return numbered(partnerCount, (number) => ({
    id: `PARTNER_${number}`,
    key: newApiKey('production'),
    customers: numbered(customersOfPartner, (customer) => ({
      id: `CUSTOMER_${number}_${customer}`,
      grantId: `GRANT_${number}_${customer}`,
    })),
  }));
}

export async function fillDatabase(url: string, partners: readonly Partner[], brands: number): Promise<void> {
  const address = parseDatabaseUrl(url)!;
  const purpose = address.engine === 'sqlite' ? 'create' : 'migrate';
  const store = await openStore(address, 'production', purpose);
  for (const partner of partners) await fillPartner(store, partner, brands / partners.length);
  await store.close();
}

async function fillPartner(store: Store, { id, key, customers }: Partner, brands: number): Promise<void> {
  const { created_at } = times;
  await store.createPartner({ id, name: id, created_at });
  const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;
  const row = { id: `KEY_${id}`, partner_id: id, scopes, created_at, last_four: key.slice(-4) };
  await store.createKey(row, digestOfKey(key));
  for (let from = 0; from < brands; from += brandsOfPiece) {
    const count = Math.min(brandsOfPiece, brands - from);
    const piece = numbered(count, (index) => ({ ...brandOf(from + index), ...times }));
    await importValues(store, 'brands', piece, id);
  }
  const grants = customers.map((customer) => ({
    id: customer.grantId,
    partner_id: id,
    customer_id: customer.id,
    ...times,
  }));
  await importValues(store, 'grants', grants);
  const balances = customers.map((customer, index) => ({
    id: `BAL_${customer.id}`,
    customer_id: customer.id,
    type: 'CHECKING',
    currency: 'USD',
    amount: 100_000 + index * 7,
    ...times,
  }));
  await importValues(store, 'balances', balances);
}

function numbered<Item>(count: number, item: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => item(index));
}
