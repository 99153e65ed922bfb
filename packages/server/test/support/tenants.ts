/**
 * Three partners who have the same things, each under names of its own and under names that all of them use,
 * and every kind of key: whatever one of them asks for, an answer shows whose it is.
 */
import type { Scope } from '@partner-network/contract/scopes';
import { apiKeyOf, digestOfKey } from '../../src/api-key.ts';
import { importValues } from '../../src/ingest/import.ts';
import type { Store } from '../../src/store/port.ts';
import { createdAt, past } from './fixture.ts';
import type { Answer } from './http.ts';
import { keepKey, keepSecret } from './watch-logs.ts';

type Listing = 'brands' | 'balances';

/** The last of them is disabled. */
export const partners = ['north', 'south', 'closed'] as const;
type Partner = (typeof partners)[number];

export interface TenantKey {
  readonly what: string;
  readonly text: string | undefined;
  readonly partner: Partner | undefined;
  /** What it may list. */
  readonly lists: readonly Listing[];
}

const kinds = [
  { kind: 'both', scopes: ['BALANCES_READ', 'BRANDS_READ'], lists: ['brands', 'balances'] },
  { kind: 'brands', scopes: ['BRANDS_READ'], lists: ['brands'] },
  { kind: 'balances', scopes: ['BALANCES_READ'], lists: ['balances'] },
  { kind: 'expired', scopes: ['BALANCES_READ', 'BRANDS_READ'], lists: [], times: { expires_at: past } },
  { kind: 'revoked', scopes: ['BALANCES_READ', 'BRANDS_READ'], lists: [], times: { revoked_at: past } },
] as const;

function secretOf(partner: string, kind: string): string {
  return `${partner}${kind}`.padEnd(43, '0');
}

const issued: readonly TenantKey[] = partners.flatMap((partner) =>
  kinds.map(({ kind, lists }) => ({
    what: `the ${kind} key of ${partner}`,
    text: apiKeyOf('sandbox', secretOf(partner, kind)),
    partner,
    lists: partner === 'closed' ? [] : lists,
  })),
);

const strangers = Object.entries({
  'no key': undefined,
  'a key that was never issued': apiKeyOf('sandbox', secretOf('north', 'never')),
  'a live key, but for that the one of north': apiKeyOf('production', secretOf('north', 'both')),
  'a key with a wrong checksum': `${apiKeyOf('sandbox', secretOf('north', 'both')).slice(0, -1)}!`,
}).map(([what, text]): TenantKey => ({ what, text, partner: undefined, lists: [] }));

export const tenantKeys: readonly TenantKey[] = [...issued, ...strangers];

const times = { created_at: createdAt, updated_at: createdAt };

/** Two of the three brands have an id or a reference that every partner has, too. */
export function brandsOf(partner: string) {
  const confidential = { name: `Confidential of ${partner}`, ...times };
  return [
    { id: 'common', reference_id: 'shared', ...confidential },
    { id: `only-${partner}`, reference_id: `ref-${partner}`, ...confidential },
    { id: `other-${partner}`, reference_id: 'shared', ...confidential },
  ];
}

export const references = ['shared', ...partners.map((partner) => `ref-${partner}`)];

/** One of each partner, one that all of them have a grant for, and one that nobody has. */
export const customers = [...partners.map((partner) => `of-${partner}`), 'of-all', 'of-none'];

export const balances = customers.flatMap((customer_id, customer) =>
  ['bal-1', 'bal-2'].map((id, balance) => ({
    ...{ id, customer_id, type: 'CHECKING', currency: 'USD', ...times },
    amount: 7_000_001 + customer * 1_000 + balance,
  })),
);

/** The same ids under several customers, and for one customer those of several partners. */
const grants = partners.flatMap((partner_id) => {
  const own = { partner_id, customer_id: `of-${partner_id}` };
  return [
    { id: `grant-${partner_id}`, ...own, status: 'ACTIVE' },
    { id: 'grant-common', ...own, status: 'ACTIVE' },
    { id: `expired-${partner_id}`, ...own, status: 'EXPIRED' },
    { id: `revoked-${partner_id}`, ...own, status: 'REVOKED' },
    { id: `consumed-${partner_id}`, ...own, status: 'CONSUMED' },
    { id: `grant-${partner_id}`, partner_id, customer_id: 'of-all', status: 'ACTIVE' },
    { id: `revoked-${partner_id}`, partner_id, customer_id: 'of-all', status: 'REVOKED' },
    // Its time is over, though nobody has told the database.
    { id: `expired-${partner_id}`, partner_id, customer_id: 'of-none', status: 'ACTIVE', expires_at: past },
  ];
});

for (const { text } of tenantKeys) if (text !== undefined) keepKey(text);
for (const customer of customers) keepSecret('customer', customer);
for (const { amount } of balances) keepSecret('amount', String(amount));

export const grantIds = [...new Set(grants.map(({ id }) => id))];

/** What a grant is worth to a partner; without an id, whether any of them is. */
export function standingOf(partner: string, customer: string, grantId: string | undefined): string {
  const own = grants
    .filter(({ partner_id, customer_id }) => partner_id === partner && customer_id === customer)
    .map(({ id, ...grant }) => ({ id, status: 'expires_at' in grant ? 'EXPIRED' : grant.status }));
  if (grantId !== undefined) return own.find(({ id }) => id === grantId)?.status ?? 'NOT_FOUND';
  return own.some(({ status }) => status === 'ACTIVE') ? 'ACTIVE' : 'NOT_FOUND';
}

export const tenants = { name: 'tenants', fill: fillTenants };

async function fillTenants(store: Store): Promise<void> {
  for (const id of partners) await store.createPartner({ id, name: id, created_at: createdAt });
  await store.setPartnerDisabled('closed', past);
  for (const partner of partners) {
    for (const { kind, scopes, ...rest } of kinds) {
      const text = apiKeyOf('sandbox', secretOf(partner, kind));
      const onFile = { partner_id: partner, scopes: scopes as readonly Scope[], last_four: text.slice(-4) };
      const id = `KEY_${partner}_${kind}`;
      const until = 'times' in rest ? rest.times : {};
      await store.createKey({ id, ...onFile, created_at: createdAt, ...until }, digestOfKey(text));
    }
    await importValues(store, 'brands', brandsOf(partner), partner);
  }
  await importValues(store, 'balances', balances);
  await importValues(store, 'grants', grants);
}

/** All that a caller sees of an answer, but for what is another each time. */
export function seen({ status, headers, text }: Answer) {
  // A connection is closed after a thousand requests, whoever sent them.
  const { 'x-request-id': _, date: __, connection: ___, 'keep-alive': ____, ...rest } = headers;
  return { status, headers: rest, text };
}
