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
