/** Generates records, valid and invalid, and writes them as JSON in different ways. */
import fc from 'fast-check';
import { fieldsOf, type Kind } from './import-model.ts';
import { anyText, aroundLength } from './words.ts';

/** A member of a record: its name, and its value as JSON. */
type Member = readonly [name: string, json: string];

const asJson = (words: fc.Arbitrary<string>) => words.map((text) => JSON.stringify(text));

const times = [
  ...['2026-01-30T08:00:00.000Z', '2026-01-31t08:00:00z', '2024-02-29T23:59:59.123456+00:00'],
  ...['2025-02-29T00:00:00Z', '2026-04-31T00:00:00Z', '0000-01-01T00:00:00Z', '2026-01-01T24:00:00Z'],
  ...['2026-01-01T00:00:60Z', '2026-01-01T00:00:00+01:00', '2026-01-01', '1900-02-29T00:00:00Z'],
];
const urls = [
  'http://a b/',
  ...'https://images.example.com/a.png http://a http:// https://user@a/ https://a:b@a/ ftp://a/'.split(' '),
  ...'http://[::1]/x HTTPS://A/É http:///a http://a:99999/ http://%zz/ //a http://@a'.split(' '),
];
const numbers = [
  ...['0', '1', '-1', '9007199254740991', '-9007199254740991', '9007199254740992', '-9007199254740992'],
  ...['1.0', '1e3', '-0', '1E0', '0.5', '1e400', '123456789012345678901234567890'],
];
const otherJson = 'null true false [] {} [1] {"a":1} "" {"a":null} "\\ud800" "\\u0000" "." ".."'.split(' ');

const metadataKey = asJson(fc.oneof(anyText(8), fc.constantFrom('tier', '__proto__', '1', '')));
const metadata = fc
  .array(fc.tuple(metadataKey, fc.oneof(asJson(anyText(12)), fc.constantFrom('1', 'null', '{}'))), {
    maxLength: 4,
  })
  .map((entries) => `{${entries.map((entry) => entry.join(':')).join(',')}}`);
/** Around the limit of 50 keys. */
const manyKeys = fc
  .integer({ min: 48, max: 52 })
  .map((count) => `{${Array.from({ length: count }, (_, index) => `"k${index}":"v"`).join(',')}}`);

/** Around the limit of 32,768 bytes. */
const manyBytes = fc
  .tuple(fc.constantFrom('x', 'é', '🦊'), fc.integer({ min: 32_764, max: 32_772 }))
  .map(([text, bytes]) => {
    const many = text.repeat(Math.floor((bytes - 1) / Buffer.byteLength(text)));
    return JSON.stringify({ k: many + 'x'.repeat(bytes - 1 - Buffer.byteLength(many)) });
  });

/** Created once: fast-check takes a millisecond to create an arbitrary from a pattern. */
const fitting = new Map<string, fc.Arbitrary<string>>([
  ['amount', fc.oneof(fc.constantFrom(...numbers), fc.maxSafeInteger().map(String))],
  ['color', asJson(fc.stringMatching(/^#[0-9A-Fa-f]{6}$|^#?[0-9A-Ga-g]{5,7}$/))],
  ['currency', asJson(fc.constantFrom('USD', 'USD', 'usd', 'EUR', 'USD '))],
  ['type', asJson(fc.constantFrom('CHECKING', 'CHECKING', 'SAVINGS'))],
  ['action', asJson(fc.constantFrom('CHECKING_BALANCE', 'OTHER'))],
  ['status', asJson(fc.constantFrom('ACTIVE', 'CONSUMED', 'REVOKED', 'EXPIRED', 'active'))],
  ['partner_id', asJson(fc.constantFrom('acme', 'acme', 'zenith', 'nobody'))],
  ['metadata', fc.oneof({ weight: 16, arbitrary: metadata }, manyKeys, manyBytes)],
  ['profile_image_url', asJson(fc.constantFrom(...urls))],
  ...['created_at', 'updated_at', 'expires_at'].map(
    (name) => [name, asJson(fc.constantFrom(...times))] as const,
  ),
]);
const anyValue = asJson(anyText(20));
const otherValue = fc.oneof(
  fc.constantFrom(...otherJson, ...numbers),
  ...[128, 256, 1_024].map((length) => asJson(aroundLength(length))),
);

/** Mostly a fitting value; sometimes another type or a text of maximum length. */
function memberOf(name: string): fc.Arbitrary<Member> {
  const value = fc.oneof(
    { weight: 20, arbitrary: fitting.get(name) ?? anyValue },
    { weight: 1, arbitrary: otherValue },
  );
  return fc.tuple(fc.constant(name), value);
}

/** All required and some optional fields; sometimes a field is missing, unknown or repeated. */
export function recordOf(kind: Kind): fc.Arbitrary<readonly Member[]> {
  const { required, properties } = fieldsOf[kind];
  const optional = Object.keys(properties).filter((name) => !(required as readonly string[]).includes(name));
  const some = fc.subarray(optional).chain((names) => fc.tuple(...names.map(memberOf)));
  const strange = fc.constantFrom('nam', '__proto__', 'constructor', '', 'Amount', 'digits').chain(memberOf);
  const again = fc.constantFrom(...Object.keys(properties)).chain(memberOf);
  return fc
    .tuple(
      fc.tuple(...required.map(memberOf)),
      some,
      fc.oneof({ weight: 12, arbitrary: fc.constant([]) }, fc.tuple(strange), fc.tuple(again)),
      fc.oneof({ weight: 12, arbitrary: fc.constant(-1) }, fc.nat(3)),
    )
    .map(([needed, more, odd, left]) => [...needed.filter((_, index) => index !== left), ...more, ...odd]);
}

export function lineOf(members: readonly Member[], space: string): string {
  const written = members.map(([name, json]) => `${JSON.stringify(name)}${space}:${space}${json}`);
  return `{${written.join(`,${space}`)}}`;
}

/** Pieces that a typo inserts into a line. The result is usually not JSON. */
const pieces = [...'" \\ { } [ ] : , 0 1 e . - \\u0061 null'.split(' '), '\t', '\u0001', '\u00a0'];
export const typo = fc.record(
  { at: fc.nat(200), drop: fc.nat(2), piece: fc.constantFrom('', ...pieces) },
  { noNullPrototype: true },
);

export function withTypo(
  line: string,
  { at, drop, piece }: { at: number; drop: number; piece: string },
): string {
  const place = at % (line.length + 1);
  // UTF-8 cannot encode lone surrogates.
  return (line.slice(0, place) + piece + line.slice(place + drop)).toWellFormed();
}
