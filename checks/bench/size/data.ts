/** Generates the data of the size bench inside Postgres: always the same, and equally much per partner. */
import { availableParallelism } from 'node:os';
import { parseDatabaseUrl } from '../../../packages/store/src/address.ts';
import { openStore } from '../../../packages/store/src/engines.ts';
import { onConnection } from '../../../packages/testkit/servers/postgres-start.ts';

/** The rows of one partner. Databases differ in the number of partners only. */
export const ofPartner = {
  brands: 1_000,
  /** Every fourth brand has the same reference id; all others have their own. */
  brandsOfChain: 250,
  balances: 10_000,
  /** One customer has 1,000 balances, 900 customers have 10. All have granted the partner access. */
  customers: 901,
  balancesOfLargeCustomer: 1_000,
} as const;

/** Grants are valid until 2030. */
export const whenGrantsAreGood = '2026-01-01T00:00:00.000Z';
export const chainReference = 'chain-riverside';
export const storeReference = 'store-000501';

const startMs = Date.UTC(2024, 0, 1);

/** SQL for an id like those that the service issues, with a digest in place of the random part. */
function idOf(prefix: string, timeMs: string, number: string): string {
  const digest = `left(md5('${prefix}' || ${number}), 16)`;
  return `'${prefix}_' || lpad(to_hex(${timeMs}), 12, '0') || '0000' || ${digest}`;
}

const timeOf = (timeMs: string) => `to_timestamp(${timeMs} / 1000::float8)`;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const partnerMs = (partner: string) => `(${startMs} + (${partner}) * ${hourMs})`;
const customerMs = (customer: string) => `(${startMs} + (${customer}) * 60000)`;
const partnerId = (partner: string) => idOf('PARTNER', partnerMs(partner), `(${partner})`);
const customerId = (customer: string) => idOf('CUSTOMER', customerMs(customer), `(${customer})`);

const partners = `
  insert into partners (id, name, created_at)
  select ${partnerId('n')}, 'Partner ' || n, ${timeOf(partnerMs('n'))}
  from generate_series($1::bigint, $2::bigint) as n`;

/**
 * Row n belongs to `partner` and is the row number `turn` of that partner in the order of ids. Partners and
 * turns are mixed (7919 has no common factor with the number of rows). So each record of a page lies in
 * another block, as after years of changes, in a database of any size.
 */
function mixedRows(partnerCount: number, rowsOfPartner: number): string {
  return `
    generate_series($1::bigint, $2::bigint) as n,
    lateral (
      select n % ${partnerCount} as partner, n / ${partnerCount} * 7919 % ${rowsOfPartner} as turn
    ) as a,
    lateral (select turn * ${partnerCount} + partner as number) as b`;
}

function brands(partnerCount: number): string {
  const ms = `(${startMs} + number * 1000)`;
  return `
    insert into brands (partner_id, id, name, created_at, updated_at, reference_id, color, profile_image_url,
      metadata)
    select
      ${partnerId('partner')},
      ${idOf('BRAND', ms, 'number')},
      (array['Golden', 'Little', 'Copper', 'Harbor', 'Meridian', 'Linen', 'Quiet', 'Aurora'])[1 + turn % 8]
        || ' ' || (array['Bakery', 'Roasters', 'Outfitters', 'Furniture', 'Pharmacy'])[1 + turn / 8 % 5]
        || ' of ' || (array['Springfield', 'Riverside', 'Salem', 'Georgetown'])[1 + turn / 40 % 4],
      ${timeOf(ms)},
      ${timeOf(`(${ms} + turn % 90 * ${dayMs})`)},
      case when turn % 4 = 0 then '${chainReference}' else 'store-' || lpad(turn::text, 6, '0') end,
      case when turn % 20 < 17 then '#' || upper(left(md5('color' || number), 6)) end,
      case when turn % 10 < 7 then 'https://images.example.com/logos/' || md5('logo' || number) || '.png' end,
      case when turn % 5 < 3 then
        format('{"category":"%s","region":"%s","segment":"%s"}',
          (array['food', 'home', 'travel'])[1 + turn % 3],
          (array['us-east', 'us-west'])[1 + turn % 2],
          'seg-' || left(md5('segment' || number), 8))::json
      end
    from ${mixedRows(partnerCount, ofPartner.brands)}`;
}

const grants = `
  insert into grants (customer_id, id, partner_id, action, status, expires_at, created_at, updated_at)
  select
    ${customerId('n')},
    ${idOf('GRANT', customerMs('n'), 'n')},
    ${partnerId(`n / ${ofPartner.customers}`)},
    'CHECKING_BALANCE', 'ACTIVE', '2030-01-01T00:00:00Z',
    ${timeOf(customerMs('n'))},
    ${timeOf(customerMs('n'))}
  from generate_series($1::bigint, $2::bigint) as n`;

/** Every tenth balance belongs to the large customer; the other customers take turns. */
function balances(partnerCount: number): string {
  const ms = `(${startMs} + number * 100)`;
  const others = ofPartner.customers - 1;
  return `
    insert into balances (customer_id, id, type, currency, amount, created_at, updated_at)
    select
      ${customerId('customer')},
      ${idOf('BAL', ms, 'number')},
      'CHECKING', 'USD', number * 7919 % 2000000 - 100000,
      ${timeOf(ms)},
      ${timeOf(`(${ms} + turn % 90 * ${dayMs})`)}
    from ${mixedRows(partnerCount, ofPartner.balances)},
      lateral (
        select partner * ${ofPartner.customers}
          + case when turn % 10 = 0 then 0 else 1 + (turn - turn / 10 - 1) % ${others} end as customer
      ) as c`;
}

/** Fills an empty database with partners and their rows, then vacuums it as a server in use would. */
export async function makeData(url: string, partnerCount: number): Promise<void> {
  await (await openStore(parseDatabaseUrl(url)!, 'production', 'migrate')).close();
  await insertRows(url, partners, partnerCount);
  await insertRows(url, brands(partnerCount), partnerCount * ofPartner.brands);
  await insertRows(url, grants, partnerCount * ofPartner.customers);
  await insertRows(url, balances(partnerCount), partnerCount * ofPartner.balances);
  await onConnection(url, (client) => client.query('vacuum (analyze)'));
}

/** Runs an insert of the rows from $1 to $2. Each of several connections inserts a part of the rows. */
async function insertRows(url: string, insert: string, rows: number): Promise<void> {
  const connections = Math.min(availableParallelism(), 8);
  const firstOf = (part: number) => Math.floor((rows * part) / connections);
  const parts = Array.from({ length: connections }, (_, part) => [firstOf(part), firstOf(part + 1) - 1]);
  await Promise.all(parts.map((range) => onConnection(url, (client) => client.query(insert, range))));
}

/** A partner whose pages are read, its customer with 1,000 balances, and a customer with 10. */
export interface Subject {
  readonly partner: string;
  readonly largeCustomer: string;
  readonly customer: string;
}

/** Subjects, evenly spread over the database. */
export function subjectsIn(url: string, partnerCount: number, count: number): Promise<Subject[]> {
  const first = `n * ${partnerCount} / ${count} * ${ofPartner.customers}`;
  const text = `
    select ${partnerId(`n * ${partnerCount} / ${count}`)} as partner,
      ${customerId(first)} as "largeCustomer",
      ${customerId(`${first} + 451`)} as customer
    from generate_series(0, ${count}::bigint - 1) as n`;
  return onConnection(url, async (client) => (await client.query(text)).rows);
}
