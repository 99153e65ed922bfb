/** Partners with everything that the conformance command can use: data for several pages, and every key. */
import { randomUUID } from 'node:crypto';
import { importValues } from '../../../operator/src/ingest/import.ts';
import { digestOfKey, newApiKey } from '../../../service/src/auth.ts';
import type { Store } from '../../../store/src/port.ts';
import { byTest, createdAt, future, past } from '../../../testkit/fixtures/fixture.ts';
import { keepKey, keepSecret } from '../../../testkit/watch/logs.ts';
import type { Supplied } from '../../src/conformance/probe.ts';

export type AllVariables = Required<Supplied>;

const both = ['BALANCES_READ', 'BRANDS_READ'] as const;
const customer = 'customer-4b1f';
const withoutGrant = 'customer-without-a-grant';
for (const id of [customer, withoutGrant]) keepSecret('customer', id);

/** Optional fields are absent from some brands. */
function brandsOf(partner: string, count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, row) => ({
    id: `${partner}-brand-${String(row).padStart(3, '0')}`,
    name: `Café ${partner} №${row}`,
    created_at: createdAt,
    updated_at: createdAt,
    // Some brands share a value with a space.
    reference_id: row % 20 === 5 ? `shared ${partner}` : `reference-${partner}-${row}`,
    ...(row % 3 === 0 && { color: '#12aB90' }),
    ...(row % 4 === 0 && { profile_image_url: `https://images.example.com/${partner}/${row}.png` }),
    ...(row % 5 === 0 && { metadata: row % 2 === 0 ? {} : { tier: 'gold', region: 'Ünder' } }),
  }));
}

function balancesOf(customer_id: string): Record<string, unknown>[] {
  return Array.from({ length: 60 }, (_, row) => ({
    id: `${customer_id}-balance-${String(row).padStart(2, '0')}`,
    customer_id,
    type: 'CHECKING',
    currency: 'USD',
    amount: row % 2 === 0 ? 7_310_000_000 + row : -4_420_000_000 - row,
    ...(row % 3 !== 0 && { created_at: createdAt, updated_at: createdAt }),
  }));
}

async function createKey(store: Store, partner: string, rest: object = {}): Promise<string> {
  const text = newApiKey(store.environment);
  keepKey(text);
  const onFile = { id: `KEY_${randomUUID()}`, partner_id: partner, scopes: both, created_at: createdAt };
  await store.createKey({ ...onFile, last_four: text.slice(-4), ...rest }, digestOfKey(text), byTest);
  return text;
}

async function createPartner(store: Store, id: string, brands: number): Promise<string> {
  await store.createPartner({ id, name: id, created_at: createdAt }, byTest);
  await importValues(store, 'brands', brandsOf(id, brands), id);
  return id;
}

/**
 * Fills a database. Each name becomes a partner with another partner beside it, so that the rate limit is its
 * own. All may read the same customer, and all share the keys that are refused.
 */
export async function fillDeployment(
  store: Store,
  names: readonly string[],
  brands = 120,
): Promise<AllVariables[]> {
  const old = await createPartner(store, 'old', 1);
  const refused = {
    PARTNER_NETWORK_REVOKED_API_KEY: await createKey(store, old, { revoked_at: past }),
    PARTNER_NETWORK_EXPIRED_API_KEY: await createKey(store, old, { expires_at: past }),
    PARTNER_NETWORK_OTHER_ENVIRONMENT_API_KEY: newApiKey(
      store.environment === 'sandbox' ? 'production' : 'sandbox',
    ),
  };
  await importValues(store, 'balances', [customer, withoutGrant].flatMap(balancesOf));
  const all: AllVariables[] = [];
  for (const name of names) {
    await createPartner(store, name, brands);
    const other = await createPartner(store, `${name}-other`, 2);
    all.push({
      PARTNER_NETWORK_API_KEY: await createKey(store, name),
      PARTNER_NETWORK_CUSTOMER_ID: customer,
      PARTNER_NETWORK_GRANT_ID: `grant-of-${name}`,
      PARTNER_NETWORK_CUSTOMER_ID_WITHOUT_GRANT: withoutGrant,
      PARTNER_NETWORK_BRANDS_ONLY_API_KEY: await createKey(store, name, { scopes: ['BRANDS_READ'] }),
      PARTNER_NETWORK_OTHER_PARTNER_API_KEY: await createKey(store, other),
      ...refused,
    });
  }
  const grants = names.map((name) => ({ id: `grant-of-${name}`, customer_id: customer, partner_id: name }));
  await importValues(
    store,
    'grants',
    grants.map((grant) => ({ ...grant, expires_at: future })),
  );
  return all;
}
