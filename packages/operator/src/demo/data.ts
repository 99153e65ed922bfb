/** The demo data of the sandbox. Always the same, because documentation and tests rely on it. */

import { formatId } from '@partner-network/common/ids';
import { toTime } from '@partner-network/common/times';
import { adminKeyOf, apiKeyOf } from '@partner-network/service/auth';

const firstDayMs = Date.UTC(2025, 0, 6, 9);
const hourMs = 3_600_000;

export const demoPartners = [
  {
    id: 'PARTNER_NORTHWIND',
    name: 'Northwind Market',
    category: 'food',
    adjectives: 'Golden, Little, Honest, Copper, Sunday, Wild, Corner, Amber, Salt & Stone, Café',
    nouns:
      'Bakery, Roasters, Kitchen, Creamery, Greens, Deli, Noodle Bar, Pantry, Orchard, Smokehouse, Taqueria, Provisions',
  },
  {
    id: 'PARTNER_BLUEBIRD',
    name: 'Bluebird Travel',
    category: 'travel',
    adjectives: 'Harbor, Summit, Meridian, Coastal, Polar, Sierra, Lakeside, Aurora, Grand, Östra',
    nouns:
      'Airways, Hotel, Rail, Ferries, Lodge, Cruises, Car Rental, Hostels, Tours, Campgrounds, Resorts, Shuttle',
  },
  {
    id: 'PARTNER_JUNIPER',
    name: 'Juniper Living',
    category: 'home',
    adjectives: "Birch, Linen, Modern, Quiet, Slate, Ivory, Nordic, Rustic, Lumen, Hanna's",
    nouns:
      'Furniture, Lighting, Ceramics, Textiles, Gardens, Hardware, Bedding, Kitchens, Paints, Antiques, Flooring, Framing',
  },
] as const;

type DemoPartner = (typeof demoPartners)[number];

/** Fixed, public keys. They are sandbox keys, so no production database accepts them. */
function demoKey(words: string): string {
  return apiKeyOf('sandbox', words.padEnd(43, '0'));
}

const both = ['BALANCES_READ', 'BRANDS_READ'] as const;
const past = '2025-06-30T00:00:00.000Z';
const ofNorthwind = { partner_id: 'PARTNER_NORTHWIND', scopes: both } as const;

export const demoKeys = [
  { ...ofNorthwind, id: 'KEY_NORTHWIND', text: demoKey('demoNorthwind') },
  { id: 'KEY_BLUEBIRD', partner_id: 'PARTNER_BLUEBIRD', text: demoKey('demoBluebird'), scopes: both },
  { id: 'KEY_JUNIPER', partner_id: 'PARTNER_JUNIPER', text: demoKey('demoJuniper'), scopes: both },
  {
    ...ofNorthwind,
    id: 'KEY_NORTHWIND_BRANDS',
    text: demoKey('demoNorthwindBrandsOnly'),
    scopes: ['BRANDS_READ'],
  },
  { ...ofNorthwind, id: 'KEY_NORTHWIND_EXPIRED', text: demoKey('demoNorthwindExpired'), expires_at: past },
  { ...ofNorthwind, id: 'KEY_NORTHWIND_REVOKED', text: demoKey('demoNorthwindRevoked'), revoked_at: past },
] as const;

/** A fixed, public administrative key, for a sandbox on one's own machine. */
export const demoAdminKey = {
  id: 'ADMIN_KEY_DEMO',
  role: 'ADMIN',
  text: adminKeyOf('sandbox', 'demoAdmin'.padEnd(43, '0')),
} as const;

/** A seeded random number generator (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

function hex(random: () => number, digits: number): string {
  return Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
}

/** One brand per pair of words; some lack optional fields. */
export function demoBrands({ category, adjectives, nouns }: DemoPartner, seed: number): object[] {
  const random = randomFrom(seed);
  const words = nouns.split(', ');
  const names = adjectives.split(', ').flatMap((adjective) => words.map((noun) => `${adjective} ${noun}`));
  return names.map((name, index) => {
    const createdMs = firstDayMs + index * 7 * hourMs + seed * 60_000;
    const slug = name.toLowerCase().replace(/[^a-z]+/g, '-');
    return {
      id: formatId('BRAND', createdMs, 0, hex(random, 16)),
      name,
      created_at: toTime(createdMs),
      updated_at: toTime(createdMs + Math.floor(random() * 90 * 24) * hourMs),
      reference_id: `shop-${index + 1}`,
      ...(random() < 0.85 && { color: `#${hex(random, 6).toUpperCase()}` }),
      ...(random() < 0.7 && { profile_image_url: `https://images.example.com/logos/${slug}.png` }),
      ...(random() < 0.6 && { metadata: { category, region: random() < 0.5 ? 'us-east' : 'us-west' } }),
    };
  });
}

/** In cents. */
const balancesOfCustomers: Readonly<Record<string, readonly number[]>> = {
  CUSTOMER_1001: [125_050, 9_999, 4_200_000],
  CUSTOMER_1002: [0],
  CUSTOMER_1003: [-4_321],
  CUSTOMER_1004: [],
  CUSTOMER_1005: Array.from({ length: 120 }, (_, index) => (index - 10) * 1_337),
  CUSTOMER_1006: [88_000],
  CUSTOMER_1007: [15_075],
  CUSTOMER_1008: [640],
  CUSTOMER_1009: [31_400],
  CUSTOMER_1010: [777_700],
  CUSTOMER_1011: [-250, 1_000_000],
  CUSTOMER_1012: [5_500],
};

export function demoBalances(): object[] {
  const random = randomFrom(100);
  return Object.entries(balancesOfCustomers).flatMap(([customer_id, list], customer) =>
    list.map((amount, index) => {
      const createdMs = firstDayMs + (customer * 200 + index) * hourMs;
      return {
        id: formatId('BAL', createdMs, 0, hex(random, 16)),
        customer_id,
        type: 'CHECKING',
        currency: 'USD',
        amount,
        created_at: toTime(createdMs),
        updated_at: toTime(createdMs + 30 * 24 * hourMs),
      };
    }),
  );
}

/** Northwind may read 1001 to 1005; its grants for 1006 to 1009 have ended. */
export function demoGrants(): object[] {
  const granted = { created_at: toTime(firstDayMs), updated_at: toTime(firstDayMs) };
  const northwind = { partner_id: 'PARTNER_NORTHWIND', ...granted };
  return [
    { id: 'GRANT_1001', customer_id: 'CUSTOMER_1001', ...northwind },
    { id: 'GRANT_1002', customer_id: 'CUSTOMER_1002', ...northwind },
    { id: 'GRANT_1003', customer_id: 'CUSTOMER_1003', ...northwind, expires_at: '2099-12-31T00:00:00.000Z' },
    { id: 'GRANT_1004', customer_id: 'CUSTOMER_1004', ...northwind },
    { id: 'GRANT_1005', customer_id: 'CUSTOMER_1005', ...northwind },
    { id: 'GRANT_1006', customer_id: 'CUSTOMER_1006', ...northwind, expires_at: past },
    { id: 'GRANT_1007', customer_id: 'CUSTOMER_1007', ...northwind, status: 'REVOKED' },
    { id: 'GRANT_1008', customer_id: 'CUSTOMER_1008', ...northwind, status: 'CONSUMED' },
    { id: 'GRANT_1009', customer_id: 'CUSTOMER_1009', ...northwind, status: 'EXPIRED' },
    { id: 'GRANT_1010', customer_id: 'CUSTOMER_1010', partner_id: 'PARTNER_BLUEBIRD', ...granted },
    { id: 'GRANT_1011', customer_id: 'CUSTOMER_1011', partner_id: 'PARTNER_BLUEBIRD', ...granted },
    { id: 'GRANT_1012', customer_id: 'CUSTOMER_1012', partner_id: 'PARTNER_JUNIPER', ...granted },
  ];
}
