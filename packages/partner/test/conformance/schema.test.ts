/** The checker of the conformance cases agrees with a complete implementation of JSON Schema. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { balanceSchema, brandSchema } from '@partner-network/contract/records';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { violationIn } from '../../src/conformance/json.ts';

const times = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00Z' };
const brand = {
  id: 'b',
  name: 'n',
  ...times,
  reference_id: 'r',
  color: '#12aBcD',
  profile_image_url: 'https://x/',
  metadata: { a: 'b' },
};
const balance = { id: 'b', customer_id: 'c', type: 'CHECKING', currency: 'USD', amount: -1 };

const texts = ['', 'x', 'CHECKING', 'checking', 'USD', '#12345', '#12345G', 'https://x/', '2026-01-01'];
const instants = ['2026-02-30T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:00:00+00:00'];
const numbers = [0, 1.5, 2 ** 53, -(2 ** 53)];
const lengths = [128, 129, 256, 257, 1_024, 1_025, 8_000, 8_001];

/** Values for any field: each type, each bound, and what comes close to a format. */
const values: readonly unknown[] = [
  ...numbers,
  null,
  true,
  [],
  {},
  { a: 1 },
  Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, ''])),
  ...texts,
  ...instants,
  ...lengths.map((length) => '🦊'.repeat(length)),
];

test('agrees with Ajv on every field of both records', () => {
  const day = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d)T([01]\d|2[0-3])(:[0-5]\d){2}(\.\d+)?(Z|\+00:00)$/;
  const ajv = new Ajv2020({
    strict: false,
    formats: { 'date-time': day, uri: (text) => URL.canParse(text) },
  });
  let refused = 0;
  for (const [schema, record] of [
    [brandSchema, brand],
    [balanceSchema, balance],
  ] as const) {
    // The specification gives no bounds for numbers.
    const unbounded = JSON.stringify(schema).replaceAll(/"(minimum|maximum)":-?\d+,/g, '');
    const validate = ajv.compile(JSON.parse(unbounded));
    const compare = (changed: object) => {
      const isValid = validate(changed);
      const shown = JSON.stringify(changed).slice(0, 300);
      assert.equal(violationIn(schema, changed) === undefined, isValid, shown);
      if (!isValid) refused += 1;
    };
    compare(record);
    for (const field of Object.keys(schema.properties)) {
      for (const value of values) compare({ ...record, [field]: value });
      compare({ ...record, [field]: undefined, more: 1 });
      compare(Object.fromEntries(Object.entries(record).filter(([name]) => name !== field)));
    }
  }
  assert.ok(refused > 200, String(refused));
});

test('names the field and the rule, and no value and no name from the data', () => {
  const page = { properties: { brands: { type: 'array', items: brandSchema } } };
  const { id: _, ...withoutId } = brand;
  const violations = [
    withoutId,
    { ...brand, name: 1 },
    { ...brand, name: '' },
    { ...brand, metadata: { secret: 2 } },
    { ...brand, secret: 'x' },
  ].map((record) => violationIn(page, { brands: [brand, record] }));
  assert.deepEqual(violations, [
    'brands[1].id must be present',
    'brands[1].name must be of the type string',
    'brands[1].name must have the minLength 1',
    'brands[1].metadata.<field 1> must be of the type string',
    'brands[1] must have no fields other than those of its schema',
  ]);
});
