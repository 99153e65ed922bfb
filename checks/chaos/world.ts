/** The data of a run: two partners whose brands have the same ids but differ, and their customers. */

import { importValues } from '../../packages/operator/src/ingest/import.ts';
import { digestOfKey, newApiKey } from '../../packages/service/src/auth.ts';
import { type OpenOptions, parseDatabaseUrl, toUpdate } from '../../packages/store/src/address.ts';
import { openStore } from '../../packages/store/src/engines.ts';
import type { ApiKey, Grant, Store } from '../../packages/store/src/port.ts';
import { createAdminKeys } from '../../packages/testkit/admin/started.ts';

export const byChaos = { actor: 'chaos', action: 'sandbox' } as const;

export const publicUrl = 'https://network.example';
export const partners = ['acme', 'zenith'] as const;
export type PartnerId = (typeof partners)[number];

const brandsOf: Readonly<Record<PartnerId, number>> = { acme: 260, zenith: 100 };
const balancesOfCustomer = 24;
const steadyCustomers = 3;
const waveringCustomers = 2;
export const references = 5;

const firstMs = Date.parse('2026-01-01T00:00:00Z');
const createdAt = new Date(firstMs).toISOString();
const timeOf = (version: number) => new Date(firstMs + version * 1_000).toISOString();

const range = (count: number) => Array.from({ length: count }, (_, index) => index);
const padded = (index: number) => String(index).padStart(3, '0');

/** What happens to a brand: nothing, changed or deleted alone, or imported together with others. */
type Fate = 'steady' | 'churned' | 'fed';
const fates: readonly Fate[] = ['steady', 'churned', 'steady', 'fed', 'steady'];

export function brandsWith(partnerId: PartnerId, fate: Fate): readonly number[] {
  return range(brandsOf[partnerId]).filter((index) => fates[index % fates.length] === fate);
}

/** The reference id of a brand, the same in all its versions. */
export function referenceOf(brandId: string): string {
  return `reference ${Number(brandId.slice(-3)) % references}`;
}

/** A line of an import. The name contains the partner. */
export function brandOf(partnerId: PartnerId, index: number, version: number) {
  const id = `brand-${padded(index)}`;
  return {
    id,
    name: `${partnerId} ${padded(index)} "v${version}"`,
    created_at: createdAt,
    updated_at: timeOf(version),
    reference_id: referenceOf(id),
    ...(index % 3 === 0 && { color: '#a1b2c3' }),
    ...(index % 2 === 0 && { profile_image_url: `https://images.example/${partnerId}.png` }),
    ...(index % 4 === 0 && { metadata: { partner: partnerId, version: `v${version}` } }),
  };
}

/** A line that deletes the brand or balance of this version. */
export function deletionOf<Key extends object>(key: Key, version: number) {
  return { ...key, deleted_at: timeOf(version) };
}

const placeholder = `${publicUrl}/assets/brand-placeholder.png`;

/** The JSON that clients get. */
export function brandText(partnerId: PartnerId, index: number, version: number): string {
  const { metadata, profile_image_url = placeholder, ...brand } = brandOf(partnerId, index, version);
  return JSON.stringify({ ...brand, profile_image_url, ...(metadata && { metadata }) });
}

export function balanceOf(customerId: string, index: number, version: number) {
  return {
    id: `balance-${padded(index)}`,
    customer_id: customerId,
    type: 'CHECKING',
    currency: 'USD',
    amount: version * 1_000 + index,
    created_at: createdAt,
    updated_at: timeOf(version),
  };
}

export const balanceIndexes = range(balancesOfCustomer);

/** Steady customers have a grant during the whole run. Grants of wavering customers come and go. */
export function customersOf(partnerId: PartnerId, kind: 'steady' | 'wavering'): readonly string[] {
  const count = kind === 'steady' ? steadyCustomers : waveringCustomers;
  return range(count).map((index) => `${partnerId}-${kind}-${index}`);
}

export const allCustomers: readonly string[] = partners.flatMap((partnerId) => [
  ...customersOf(partnerId, 'steady'),
  ...customersOf(partnerId, 'wavering'),
]);

export function grantOf(partnerId: PartnerId, customerId: string, id: string): Grant {
  const time = new Date().toISOString();
  return {
    id,
    partner_id: partnerId,
    customer_id: customerId,
    action: 'CHECKING_BALANCE',
    status: 'ACTIVE',
    created_at: time,
    updated_at: time,
  };
}

export interface IssuedKey {
  readonly id: string;
  readonly partnerId: PartnerId;
  readonly text: string;
}

export function newKey(partnerId: PartnerId, id: string): IssuedKey {
  return { id, partnerId, text: newApiKey('sandbox') };
}

/** Can be repeated if the outcome of the first attempt is unknown. */
export async function ensureKey(store: Store, { id, partnerId, text }: IssuedKey): Promise<void> {
  if ((await store.findKeyById(id)) !== undefined) return;
  const key: ApiKey = {
    id,
    partner_id: partnerId,
    scopes: ['BALANCES_READ', 'BRANDS_READ'],
    last_four: text.slice(-4),
    created_at: new Date().toISOString(),
  };
  await store.createKey(key, digestOfKey(text), byChaos);
}

/** Keys that are valid during the whole run. */
export const steadyKeys: Readonly<Record<PartnerId, IssuedKey>> = {
  acme: newKey('acme', 'KEY_acme'),
  zenith: newKey('zenith', 'KEY_zenith'),
};

export async function openWorld(url: string, options: OpenOptions = {}): Promise<Store> {
  return openStore(parseDatabaseUrl(url)!, 'sandbox', options);
}

export async function fillWorld(url: string): Promise<void> {
  const store = await openWorld(url, toUpdate);
  try {
    for (const id of partners) {
      await store.createPartner({ id, name: id, created_at: createdAt }, byChaos);
      await ensureKey(store, steadyKeys[id]);
      await importValues(
        store,
        'brands',
        range(brandsOf[id]).map((index) => brandOf(id, index, 0)),
        id,
      );
      for (const customerId of customersOf(id, 'steady')) {
        await store.createGrant(grantOf(id, customerId, `GRANT_${customerId}`), byChaos);
      }
    }
    const balances = allCustomers.flatMap((id) => balanceIndexes.map((index) => balanceOf(id, index, 0)));
    await importValues(store, 'balances', balances);
    await createAdminKeys(store);
  } finally {
    await store.close();
  }
}
