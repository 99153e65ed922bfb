/** Many harmless values, made from templates with seeded random numbers. */
import { formatId } from '../../../../common/src/ids.ts';
import { chanceOf } from '../../../../testkit/model/chance.ts';

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
