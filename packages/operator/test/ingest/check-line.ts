/** Reads and checks a line as an import does, and returns the result. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import type { ImportKind } from '../../../store/src/port.ts';
import { createChecker } from '../../src/ingest/check.ts';
import { readJsonLines } from '../../src/ingest/json.ts';
import { kinds } from '../../src/ingest/record-check.ts';

/** The required fields of each kind. */
export const smallest = {
  brands: { name: 'Name', reference_id: 'ref' },
  balances: { customer_id: 'alice', type: 'CHECKING', currency: 'USD', amount: 1 },
  grants: { partner_id: 'acme', customer_id: 'alice' },
} as const;

const checkers = {
  brands: createChecker(kinds.brands.schema),
  balances: createChecker(kinds.balances.schema),
  grants: createChecker(kinds.grants.schema),
};

interface Outcome {
  readonly fields: Record<string, unknown>;
  readonly rejections: (readonly [string | undefined, string])[];
}

export async function checkLine(kind: ImportKind, line: string): Promise<Outcome> {
  const [[reading] = []] = await Array.fromAsync(readJsonLines(Readable.from([Buffer.from(line)])));
  assert.ok(reading !== undefined);
  const { fields, rejections } =
    'rejections' in reading ? { fields: {}, rejections: reading.rejections } : checkers[kind](reading.value);
  return { fields, rejections: rejections.map(({ field, code }) => [field, code]) };
}

/** The smallest record, with one field set to this JSON. */
export function lineWith(kind: ImportKind, field: string, json: string): string {
  const members = Object.entries({ ...smallest[kind], [field]: '' });
  const texts = members.map(([name, value]) => `"${name}":${name === field ? json : JSON.stringify(value)}`);
  return `{${texts.join(',')}}`;
}

export async function assertTaken(
  kind: ImportKind,
  field: string,
  json: string,
  stored: unknown,
): Promise<void> {
  const outcome = await checkLine(kind, lineWith(kind, field, json));
  const { [field]: taken } = outcome.fields;
  assert.deepEqual(
    { rejections: outcome.rejections, taken },
    { rejections: [], taken: stored },
    json.slice(0, 80),
  );
}

export async function assertRefused(
  kind: ImportKind,
  field: string,
  json: string,
  code: string,
): Promise<void> {
  const { rejections } = await checkLine(kind, lineWith(kind, field, json));
  assert.deepEqual(rejections, [[field, code]], json.slice(0, 80));
}

const strings = {
  brands: { id: 128, name: 1024, reference_id: 1024 },
  balances: { id: 256, customer_id: 128 },
  grants: { id: 256, partner_id: 128, customer_id: 128 },
};
export const stringFields = Object.entries(strings).flatMap(([kind, fields]) =>
  Object.entries(fields).map(([field, max]) => [kind as ImportKind, field, max] as const),
);
export const times = Object.entries({ brands: [], balances: [], grants: ['expires_at'] }).flatMap(
  ([kind, more]) =>
    ['created_at', 'updated_at', ...more].map((field) => [kind as ImportKind, field] as const),
);
const otherTexts = [
  ['brands', 'color'],
  ['brands', 'profile_image_url'],
  ['balances', 'type'],
  ['balances', 'currency'],
  ['grants', 'action'],
  ['grants', 'status'],
] as const;
export const allTexts = [...stringFields, ...times, ...otherTexts].map(
  ([kind, field]) => [kind, field] as const,
);

/** Times as they are sent, and as they are stored. */
export const goodTimes = [
  ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31T08:00:00+00:00', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31t08:00:00z', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31T08:00:00.1Z', '2026-01-31T08:00:00.100Z'],
  ['2026-01-31T08:00:00.12+00:00', '2026-01-31T08:00:00.120Z'],
  ['2026-01-31T08:00:00.123999999999Z', '2026-01-31T08:00:00.123Z'],
  ['2025-12-31T23:59:59.9999Z', '2025-12-31T23:59:59.999Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
] as const;

export const badTimes = [
  ['a leap second', ['2016-12-31T23:59:60Z', '2016-12-31T23:59:60.500Z']],
  ['another offset', ['2026-01-01T00:00:00+01:00', '2026-01-01T00:00:00-00:00', '2026-01-01T00:00:00-05:00']],
  ['no offset', ['2026-01-01T00:00:00', '2026-01-01T00:00:00.000']],
  ['a part missing', ['2026-01-01', '2026-01-01T00:00Z', '2026-01-01T00:00:00.Z', '00:00:00Z']],
  [
    'another spelling',
    ['2026-01-01 00:00:00Z', '2026-1-1T00:00:00Z', '2026-01-01T00:00:00,5Z', '20260101T000000Z'],
  ],
  ['a year out of range', ['0000-01-01T00:00:00Z', '12026-01-01T00:00:00Z', '-2026-01-01T00:00:00Z']],
  [
    'a day or an hour that does not exist',
    ['2023-02-29T00:00:00Z', '2026-04-31T00:00:00Z', '2026-01-01T24:00:00Z'],
  ],
  [
    'no time at all',
    ['now', '1767225600', ' 2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z ', 'Thu, 01 Jan 2026'],
  ],
] as const;

export const goodUrls = [
  'http://x',
  'https://images.example.com/logo.png?size=256&shape=square#top',
  'HTTPS://IMAGES.EXAMPLE.COM/LOGO.PNG',
  'http://127.0.0.1:8080/logo.jpg',
  'http://[::1]/logo.jpg',
  'https://images.example.com/a@b:c.png',
  `https://x/${'a'.repeat(7_990)}`,
  `https://x/${'🦊'.repeat(7_990)}`,
];

export const badUrls = [
  ['fewer than 8 characters', ['x', 'http://', 'http:/x', 'https:/', 'ftp://x', '🦊'.repeat(7)]],
  [
    'another scheme',
    ['ftp://example.com/a', 'data:image/png;base64,AAAA', 'javascript:alert(1)', 'file:///etc/x'],
  ],
  ['no scheme', ['example.com/logo.png', '//example.com/logo.png', '/logo.png', 'logo.png']],
  ['no host', ['https://', 'https:///logo.png', 'https://?logo', 'https://#logo', 'https://:443/logo']],
  [
    'a user or password',
    ['https://user@example.com/', 'https://user:word@example.com/', 'https://:word@x.com/'],
  ],
  [
    'white space',
    ['https://exa mple.com/', 'https://example.com/a b', ' https://x.com/', 'https://x.com/\u00a0'],
  ],
  ['a slash missing', ['https:/example.com/', 'https:example.com/', 'https:\\\\example.com/']],
  [
    'an impossible host or port',
    ['https://example.com:99999/', 'http://[::1/logo.png', 'http://exa<mple.com/'],
  ],
] as const;
