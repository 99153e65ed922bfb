/** Many harmless values, made from templates with seeded random numbers. */
import { formatId } from '../../../../common/src/ids.ts';
import { chanceOf } from '../../../../testkit/model/chance.ts';

/** Harmless values of metadata and references; some resemble personal data. */

/** Chosen by hand, one of each kind, separated by " | ". */
const picked = [
  // Identifiers
  '550e8400-e29b-41d4-a716-446655440000 | 12345678-1234-1234-1234-123456789012',
  '41111111-1111-1111-8111-111111111111 | 41111111-1111-1111-a111-111111111111',
  '{00000000-0000-0000-0000-000000000000} | urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
  '550e8400e29b41d4a716446655440000 | 01ARZ3NDEKTSV4RRFFQ69G5FAV | 01J0000000000000000000000Z',
  'BRAND_0198c0ffee1200000123456789abcdef | BRAND_01941234567800001234567890123456',
  'BAL_01941234567800001234567890123456 | GRANT_1001 | CUSTOMER_1001 | 507f1f77bcf86cd799439011',
  'cus_4QFJOjw2pOmAGJ | ch_4111111111111111AbCd | ORD4111111111111111 | 1541815603606036480',
  '175928847299117063 | 100004123456789 | V1StGXR8_Z5jdHi6B-myT | 0000-0002-1825-0097',
  '0000 0001 2103 2683 | Q42 | P-2026-0042',
  // Digests, tokens, bytes
  'd41d8cd98f00b204e9800998ecf8427e | da39a3ee5e6b4b0d3255bfef95601890afd80709',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  '12345678901234567890123456789012 | deadbeef | 0x1234567890abcdef',
  'W/"33a64df551425fcc55e4d42a148795d9f25f89d4" | aGVsbG8gd29ybGQgMTIzNDU2Nzg5MA==',
  '00 20 33 44 55 66 | 00-20-33-44-55-66 | 00:1A:2B:3C:4D:5E | 2001:db8:85a3::8a2e:370:7334',
  '10101010101010101010101010101010',
  // Dates, times, spans
  '2026-01-31 | 20260131 | 31.01.2026 | 01/31/2026 | 2026/01/31 | 2026-01-31T08:00:00Z',
  '2026-01-31T08:00:00.000+00:00 | 2026-01-31 08:00:00.123456 | 20260131T080000Z',
  '20260131080000 | 20260131080000123 | 2026-01-31/2026-02-28 | 2026-W05-6 | 2026-031',
  '1767225600 | 1767225600000 | 1767225600000000 | 1767225600000000000 | 1767225600.123',
  '08:00-17:30 | Mon-Fri 08:00-17:30, Sat 09:00-12:00 | P1Y2M10DT2H30M',
  'Sat, 31 Jan 2026 08:00:00 +0000 | Thu Jan 01 2026 00:00:00 GMT+0100 | UTC+05:30 | +01:00',
  '+2026-01-31 | since 1998, 2003 and 2011',
  // Versions, addresses of machines, packages, files
  '1.2.3 | 1.2.3.4 | 10.0.26100.4061 | 1.0.0+20260131123456 | 1.0.0-beta.11+exp.sha.5114f85',
  'v20.11.1 | 192.168.100.200 | 255.255.255.255:8080 | 10.0.0.0/8 | root@10.0.0.1',
  'deploy@localhost | me@host | @scope/name@1.2.3 | name@1.2.3-beta.rc | left-pad@^1.3.0',
  'react@latest | npm:chalk@5.3.0 | actions/checkout@v4.1.1',
  'docker.io/library/redis@sha256:9f86d081884c7d65',
  'https://cdn.jsdelivr.net/npm/vue@3.2.1/dist/vue.global.js | logo@2x.png',
  'icons/app-icon@3x.webp | https://images.example.com/logo@2x.png?v=20260131 | report@2026.csv',
  'git@github.com:org/repo.git | ssh://git@github.com/org/repo.git',
  'sftp://deploy@files.example.com/in | postgres://app:word@db.example.com:5432/main',
  // Handles and other uses of @
  '@handle | @brand.official | follow us: @brand.official | instagram=@brand.official',
  `(@brand.official) | ['@brand.official','@brand.shop'] | {"handle":"@brand.official"}`,
  '["","@brand.official"] | @brand@social.example | https://social.example/@brand@other.example',
  'https://medium.com/@brand.blog | https://www.youtube.com/@brand.tv',
  'https://www.google.com/maps/@40.7128,-74.0060,15z | /%40brand.official | user@ | @ | a @ b',
  'a@b | a@b.c | foo@bar@baz | foo@@bar.com | pkg@workspace:* | @types/node | 10 @ 5.99',
  '10@5.99 | open @ 8.30 | @media (min-width: 1024px) | me@.com | C@fé',
  // Numbers
  '1234567 | 123456789 | 1234567890 | 123456789012 | 0123456789 | -1234567890 | +1500000',
  '+1 000 000 | +12 500 000 | +12.500.000 | +100 000 000 | +1,000,000 | 1 234 567 890',
  '1.234.567.890,00 | 1,234,567,890.00 | 3.141592653589793 | 0.4111111111111111',
  '4111111111111111.00 | 6.02214076e23 | 99.99% | 100%25 | 1/1000000 | 2 3 5 7 11 13 17 19 23',
  '01 02 03 04 05 | 0001 0002 0003 0004 | 0020 0030 0040 0050 | 100 200 300 | 1920x1080',
  '210 x 297 mm | 5551234 | 555-0199',
  // Money, colors, places
  '$1,234,567.89 | USD 1234567.89 | 1 234 567,89 € | ¥12,345,678 | #1A2B3C | #12345678',
  'rgb(12, 34, 56) | hsl(210, 50%, 40%) | cmyk(0%, 50%, 100%, 10%) | 40.7128,-74.0060',
  '40.712776, -74.005974 | +40.712776, -074.005974 | +40.6894-074.0447/ | +40.7128 -74.0060',
  '+40.712776 -074.005974 | +51.5074 0.1278 | +35.6762 +139.6503 | geo:40.712776,-74.005974',
  '40°42′46″N 74°0′22″W | 8FVC9G8F+6X | 9G8F+6W Berlin | 10115 Berlin | 12345-6789',
  '1600 Pennsylvania Avenue NW, Washington, DC 20500',
  // Codes of trade
  '4006381333931 | 4003994155486 | 14006381333938 | 30012345678906 | 00012345678905',
  '0 12345 67890 5 | 036000291452 | 978-3-16-148410-0 | 9783161484100 | 0-306-40615-2',
  '0 306 40615 2 | 2049-3630 | 10.1000/182 | 021000021 | 12-3456789 | DE123456789',
  'DE89370400440532013000 | DE89 3704 0044 0532 0130 00 | GB29 NWBK 6016 1331 9268 19',
  'FR14 4111 1111 1111 1111 0260 6 | DEUTDEFF500 | 490154203237518 | 8901260123456789012',
  '1Z999AA10123456784 | 9400110200881234567890 | 123-4567890-1234567 | UA-12345678-1',
  'G-1234567890 | MCC 5411 | 5411,5412,5499 | NAICS 445110 | US0378331005',
  'LEI 5493001KJTIIGC8Y1R12',
  // Numbers of orders and parts that come near to the shapes of phones, cards and social security
  'ORD-2026-000123 | ORD-212-555-0199 | INV-123-45-6789 | 123-45-6789-A | 123-45-678',
  '12-345-6789 | 100-200-3000 | 500-600-7000 | 800 600 1200 | ABC-123-4567 | SKU: 123-456-789',
  '20-00-00 12345678 | 1234-5678-9012 | 123.456.789-09 | 123-456-7890 | 211-555-0199',
  '212-155-0199 | 212-555-0199-7 | 7-212-555-0199 | 2125550199 | 000-12-3456 | 666-12-3456',
  '900-12-3456 | 987-65-4321 | 123-00-4567 | 123-45-0000 | 4111111111111112',
  '4111 1111 1111 1112 | 4111.1111.1111.1112 | 4111  1111  1111  1111  1111  1111',
  '4111.1111.1111.1111.1111 | 7111111111111111 | 4111 1111 1111 1111 1111 1111',
  '1234 5678 9012 3456 | 9999-9999-9999-9999 | 0000000000000000',
  // Words
  'iPhone 15 2023 | phone_count: 1234567 | Phone 10 000 000 | telemetry 12345678',
  'cell_id: 12345678 | hotel 1234567 | shop-1 | us-east-1 | Café Zürich | 東京都渋谷区 1-2-3',
  '٢٠٢٦-٠١-٣١ | ２０２６年１月３１日 | ①②③④⑤⑥⑦ | No. 5 — since 1921 – 2026 | gold',
];

export const pickedInnocents = [...picked.flatMap((values) => values.split(' | ')), '', ' '];

function chanceFrom(seed: number) {
  const { between: from, oneOf } = chanceOf(seed);
  const below = (count: number) => from(0, count - 1);
  const of = (alphabet: string, count: number) =>
    Array.from({ length: count }, () => oneOf([...alphabet])).join('');
  return { from, below, of, digits: (count: number) => of('0123456789', count) };
}

type Chance = ReturnType<typeof chanceFrom>;

const hex = '0123456789abcdef';
const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const words = ['north', 'copper', 'juniper', 'harbor', 'amber', 'salt', 'linen', 'summit'];

const two = (number: number) => String(number).padStart(2, '0');
const word = (chance: Chance) => words[chance.below(words.length)]!;
const epochMs = (chance: Chance) => chance.from(1_500_000_000, 1_999_999_999) * 1_000 + chance.below(1_000);
const time = (chance: Chance) => new Date(epochMs(chance)).toISOString();

/** Digits with the check digit that articles and books have. */
function article(digits: string): string {
  const weighed = [...digits].toReversed().map((digit, index) => Number(digit) * (index % 2 === 0 ? 3 : 1));
  return `${digits}${(10 - (weighed.reduce((sum, part) => sum + part, 0) % 10)) % 10}`;
}

type Template = (chance: Chance) => string;

const templates: Readonly<Record<string, Template>> = {
  uuid: (c) =>
    [8, 4, 4, 4, 12]
      .map((count) => c.of(hex, count))
      .join('-')
      .replace(/(?<=^.{14})./, '4'),
  'uuid of digits': (c) => [8, 4, 4, 4, 12].map((count) => c.digits(count)).join('-'),
  ulid: (c) => `01${c.of('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 24)}`,
  'our id': (c) => formatId('BRAND', epochMs(c), c.below(65_536), c.of(hex, 16)),
  'our id, all digits': (c) => `BRAND_${c.digits(32)}`,
  md5: (c) => c.of(hex, 32),
  sha1: (c) => c.of(hex, 40),
  sha256: (c) => `sha256:${c.of(hex, 64)}`,
  date: (c) => time(c).slice(0, 10),
  'compact date': (c) => time(c).slice(0, 10).replaceAll('-', ''),
  time,
  'local time': (c) => `${time(c).slice(0, 19)}+0${c.below(10)}:00`,
  'epoch seconds': (c) => String(Math.floor(epochMs(c) / 1_000)),
  'epoch milliseconds': (c) => String(epochMs(c)),
  'epoch microseconds': (c) => `${epochMs(c)}${c.digits(3)}`,
  version: (c) => `${c.below(30)}.${c.below(30)}.${c.below(3_000)}.${c.below(70_000)}`,
  ipv4: (c) => `${c.from(1, 255)}.${c.below(256)}.${c.below(256)}.${c.below(256)}`,
  order: (c) => `ORD-${c.from(2000, 2030)}-${c.digits(6)}`,
  sku: (c) => `${c.of(capitals, 3)}-${c.digits(4)}-${c.of(capitals, 2)}`,
  'order that ends like a phone': (c) => `${c.of(capitals, 3)}-${c.digits(3)}-${c.digits(3)}-${c.digits(4)}`,
  ean: (c) => article(c.digits(12)),
  'german ean': (c) => article(`4${c.digits(11)}`),
  integer: (c) => String(c.from(1, 9)) + c.digits(c.from(4, 11)),
  price: (c) => `$${c.from(1, 999)},${c.digits(3)},${c.digits(3)}.${c.digits(2)}`,
  fraction: (c) => `0.${c.digits(16)}`,
  color: (c) => `#${c.of(hex, 6)}`,
  coordinates: (c) => `${c.below(90)}.${c.digits(6)},-${c.below(180)}.${c.digits(6)}`,
  place: (c) => `+${two(c.below(90))}.${c.digits(4)}-0${two(c.below(90))}.${c.digits(4)}/`,
  isbn: (c) => article(`978${c.digits(9)}`).replace(/^(...)(.)(..)(......)(.)$/, '$1-$2-$3-$4-$5'),
  routing: (c) => c.digits(9),
  part: (c) => `${c.digits(3)}-${c.digits(2)}-${c.digits(3)}`,
  range: (c) => `${c.from(100, 199)}-${c.from(200, 299)}-${c.digits(4)}`,
  hours: (c) => `${two(c.below(12))}:${two(c.below(60))}-${c.from(12, 23)}:${two(c.below(60))}`,
  iban: (c) => `DE${two(c.from(2, 98))}${c.digits(18)}`.replace(/.{4}(?=.)/g, '$& '),
  handle: (c) => `@${word(c)}.${word(c)}`,
  package: (c) => `@${word(c)}/${word(c)}@${c.below(9)}.${c.below(99)}.${c.below(99)}-rc.${word(c)}`,
  picture: (c) => `${word(c)}@${c.from(2, 4)}x.png`,
  remote: (c) => `git@${word(c)}.example:${word(c)}/${word(c)}.git`,
  mac: (c) => Array.from({ length: 6 }, () => c.digits(2)).join('-'),
  sum: (c) => `+${c.from(1, 99)} ${c.digits(3)} ${c.digits(3)}`,
};

const valuesOfTemplate = 30;

/** What kind it is, and a value of it. */
export const filledInnocents: readonly (readonly [string, string])[] = Object.entries(templates).flatMap(
  ([kind, template], index) => {
    const chance = chanceFrom(index + 1);
    return Array.from({ length: valuesOfTemplate }, () => [kind, template(chance)] as const);
  },
);
