/** Partners with keys, brands and balances: the same on each engine, to the byte. */
import { importValues } from '../../../packages/operator/src/ingest/import.ts';
import { digestOfKey, newApiKey } from '../../../packages/service/src/auth.ts';
import { parseDatabaseUrl, toUpdate } from '../../../packages/store/src/address.ts';
import { openStore } from '../../../packages/store/src/engines.ts';
import type { Store } from '../../../packages/store/src/port.ts';

const byBench = { actor: 'bench', action: 'sandbox' } as const;

const times = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-02T00:00:00.000Z' };

export type Partner = ReturnType<typeof newPartners>[number];

/** Keys are generated for each run, so that no working key is stored in the repository. */
export function newPartners(count: number, customersOfPartner = 0) {
  return numbered(count, (number) => ({
    id: `PARTNER_${number}`,
    key: newApiKey('production'),
    // Each customer has one balance and a grant to read it.
    customers: numbered(customersOfPartner, (customer) => ({
      id: `CUSTOMER_${number}_${customer}`,
      grantId: `GRANT_${number}_${customer}`,
    })),
  }));
}

/** Creates a database. The partners share the brands equally. */
export async function fillDatabase(url: string, partners: readonly Partner[], brands: number): Promise<void> {
  const store = await openStore(parseDatabaseUrl(url)!, 'production', toUpdate);
  for (const partner of partners) await fillPartner(store, partner, brands / partners.length);
  await store.close();
}

async function fillPartner(store: Store, partner: Partner, brands: number): Promise<void> {
  const { id, key } = partner;
  const { created_at } = times;
  await store.createPartner({ id, name: id, created_at }, byBench);
  const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;
  const row = { id: `KEY_${id}`, partner_id: id, scopes, created_at, last_four: key.slice(-4) };
  await store.createKey(row, digestOfKey(key), byBench);
  const records = recordsOf(partner, brands);
  for (const kind of ['brands', 'grants', 'balances'] as const)
    await importValues(store, kind, records[kind]);
}

/** The records of a partner, by kind. */
export function recordsOf({ id, customers }: Partner, brands: number) {
  return {
    brands: numbered(brands, (index) => ({ partner_id: id, ...brandOf(index) })),
    grants: customers.map((customer) => ({
      id: customer.grantId,
      partner_id: id,
      customer_id: customer.id,
      ...times,
    })),
    balances: customers.map((customer, index) => ({
      id: `BAL_${customer.id}`,
      customer_id: customer.id,
      type: 'CHECKING',
      currency: 'USD',
      amount: 100_000 + index * 7,
      ...times,
    })),
  };
}

const brandOf = (index: number) => ({
  id: `BRAND_${String(index).padStart(12, '0')}`,
  name: `Brand number ${index}`,
  reference_id: `reference-${index}`,
  color: '#336699',
  profile_image_url: `https://images.example.com/brands/${index}.png`,
  metadata: { tier: 'gold', region: 'north', campaign: `campaign-${index % 7}` },
  ...times,
});

function numbered<Item>(count: number, item: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => item(index));
}
