/** Two partners who must never learn of each other, and a key, grant and record for every rule. */
import type { Scope } from '@partner-network/contract/scopes';
import { apiKeyOf, digestOfKey } from '../../src/api-key.ts';
import { importValues } from '../../src/ingest/import.ts';
import type { Store } from '../../src/store/port.ts';
import { keepKey, keepSecret } from './watch-logs.ts';

export const createdAt = '2026-01-01T00:00:00.000Z';
export const past = '2026-01-02T00:00:00.000Z';
export const future = '2999-01-01T00:00:00.000Z';

const both: Scope[] = ['BALANCES_READ', 'BRANDS_READ'];

function key(words: string): string {
  return apiKeyOf('sandbox', words.padEnd(43, '0'));
}

export const keys = {
  acme: key('acme'),
  acmeBrandsOnly: key('acmeBrands'),
  acmeBalancesOnly: key('acmeBalances'),
  acmeExpired: key('acmeExpired'),
  acmeRevoked: key('acmeRevoked'),
  /** Revoked, past its expiry, and of a disabled partner. */
  closedRevoked: key('closedRevoked'),
  /** Past its expiry and of a disabled partner. */
  closedExpired: key('closedExpired'),
  closed: key('closed'),
  zenith: key('zenith'),
  neverIssued: key('neverIssued'),
  live: apiKeyOf('production', 'live'.padEnd(43, '0')),
} as const;

const keysOnFile = [
  { text: keys.acme, partner_id: 'acme', scopes: both },
  { text: keys.acmeBrandsOnly, partner_id: 'acme', scopes: ['BRANDS_READ'] as Scope[] },
  { text: keys.acmeBalancesOnly, partner_id: 'acme', scopes: ['BALANCES_READ'] as Scope[] },
  { text: keys.acmeExpired, partner_id: 'acme', scopes: both, expires_at: past },
  { text: keys.acmeRevoked, partner_id: 'acme', scopes: both, revoked_at: past },
  { text: keys.closedRevoked, partner_id: 'closed', scopes: both, expires_at: past, revoked_at: past },
  { text: keys.closedExpired, partner_id: 'closed', scopes: both, expires_at: past },
  { text: keys.closed, partner_id: 'closed', scopes: both, expires_at: future },
  { text: keys.zenith, partner_id: 'zenith', scopes: both },
];

const times = { created_at: createdAt, updated_at: createdAt };

export const acmeBrands = [
  {
    id: 'b1',
    name: 'Café "Ünïcode" \\ \u2028 🦊',
    ...times,
    reference_id: 'ref one',
    color: '#Ab12eF',
    profile_image_url: 'https://images.example.com/fox.png?size=256&shape=square',
    metadata: { tier: 'gold', note: 'a "quoted" \\ value' },
  },
  { id: 'b2', name: 'Plain', ...times, reference_id: 'shared' },
  { id: 'b3', name: 'Empty metadata', ...times, reference_id: 'shared', metadata: {} },
];

const zenithBrands = [
  { id: 'b2', name: 'Zenith confidential', ...times, reference_id: 'shared' },
  { id: 'z1', name: 'Zenith confidential too', ...times, reference_id: 'zenith-only' },
];

const money = { type: 'CHECKING', currency: 'USD', ...times };

export const balances = [
  { id: 'bal1', customer_id: 'alice', ...money, amount: 9_007_199_254_740_991 },
  { id: 'bal2', customer_id: 'alice', ...money, amount: 0 },
  { id: 'bal3', customer_id: 'alice', ...money, amount: -9_007_199_254_740_991 },
  { id: 'bal1', customer_id: 'zoe', ...money, amount: 424_242_424_242 },
  { id: 'bal1', customer_id: 'carol', ...money, amount: 515_151_515_151 },
];

const grants = [
  { id: 'g-active', customer_id: 'alice', partner_id: 'acme' },
  { id: 'g-expired', customer_id: 'alice', partner_id: 'acme', expires_at: past },
  { id: 'g-revoked', customer_id: 'alice', partner_id: 'acme', status: 'REVOKED', expires_at: past },
  { id: 'g-consumed', customer_id: 'alice', partner_id: 'acme', status: 'CONSUMED' },
  { id: 'g-status-expired', customer_id: 'alice', partner_id: 'acme', status: 'EXPIRED', expires_at: future },
  { id: 'g-nothing', customer_id: 'without-balances', partner_id: 'acme', expires_at: future },
  { id: 'g-only-expired', customer_id: 'carol', partner_id: 'acme', expires_at: past },
  { id: 'g-only-revoked', customer_id: 'carol', partner_id: 'acme', status: 'REVOKED' },
  { id: 'g-zenith', customer_id: 'zoe', partner_id: 'zenith' },
  { id: 'g-zenith-alice', customer_id: 'alice', partner_id: 'zenith' },
];

for (const text of Object.values(keys)) keepKey(text);
for (const { amount, customer_id } of balances) {
  keepSecret('customer', customer_id);
  if (amount !== 0) keepSecret('amount', String(amount));
}

export async function fillFixture(store: Store): Promise<void> {
  for (const id of ['acme', 'zenith', 'closed']) {
    await store.createPartner({ id, name: id, created_at: createdAt });
  }
  await store.setPartnerDisabled('closed', past);
  for (const [index, { text, ...rest }] of keysOnFile.entries()) {
    const onFile = { id: `KEY_${index}`, last_four: text.slice(-4), created_at: createdAt, ...rest };
    await store.createKey(onFile, digestOfKey(text));
  }
  await importValues(store, 'brands', acmeBrands, 'acme');
  await importValues(store, 'brands', zenithBrands, 'zenith');
  await importValues(store, 'balances', balances);
  await importValues(store, 'grants', grants);
}
