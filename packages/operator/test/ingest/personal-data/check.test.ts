import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ingestBounds } from '../../../../common/src/bounds/operator.ts';
import { pluck } from '../../../../testkit/fixtures/pluck.ts';
import { createChecker } from '../../../src/ingest/check.ts';
import { kinds } from '../../../src/ingest/record-check.ts';
import { rejection, withHint } from '../../../src/ingest/rejections.ts';

const { schema, freeTexts } = kinds.brands;
const check = createChecker(schema, { watched: freeTexts });
const mail = 'jane@example.com';
const smallest = { name: 'Name', reference_id: 'ref' };

function personalIn(more: object): (readonly [string | undefined, string])[] {
  const { rejections, personal } = check({ ...smallest, ...more });
  assert.deepEqual(rejections, []);
  for (const { code } of personal) assert.equal(code, 'PERSONAL_DATA');
  return personal.map(withHint).map(({ field, detail }) => [field, detail]);
}

const sentence = (what: string) =>
  `Remove ${what}. If it is not personal data, import with --personal-data allow.`;

test('names the field or metadata key that contains personal data, and the kind', () => {
  assert.deepEqual(personalIn({ reference_id: mail }), [
    ['reference_id', sentence('a value that looks like an e-mail address')],
  ]);
  assert.deepEqual(personalIn({ metadata: { tier: 'gold', owner: '+44 20 7946 0958', ssn: '123456789' } }), [
    ['metadata.owner', sentence('a value that looks like a phone number')],
    ['metadata.ssn', sentence('a value that looks like a US social security number')],
  ]);
});

test('does not repeat a metadata key that is personal data, whatever the rejection', () => {
  assert.deepEqual(personalIn({ metadata: { [mail]: 'gold' } }), [
    ['metadata', sentence('a key that looks like an e-mail address')],
  ]);
  assert.deepEqual(personalIn({ metadata: { phone_2125550199: 'gold' } }), [
    ['metadata', sentence('a key that looks like a phone number')],
  ]);
  assert.deepEqual(personalIn({ metadata: { [mail]: '4111111111111111' } }), [
    ['metadata', sentence('a key that looks like an e-mail address')],
    ['metadata', sentence('a value that looks like a payment card number')],
  ]);
  const { rejections } = check({
    ...smallest,
    [mail]: 1,
    metadata: { [mail]: 5, 'jane\u0007@example.com': 'x' },
  });
  assert.deepEqual(
    rejections.map(({ field, code }) => [field, code]),
    [
      ['metadata', 'EXPECTED_STRING'],
      ['metadata', 'INVALID_CHARACTER'],
      ['[personal data]', 'UNKNOWN_FIELD'],
    ],
  );
});

test('never repeats personal data, wherever it is', () => {
  const numbers = ['+44 20 7946 0958', '212 555 0199', '4111 1111 1111 1111', '123-45-6789', '123 45 6789'];
  for (const datum of [mail, ...numbers]) {
    const long = `${'x'.repeat(40)} ${datum}`;
    for (const text of [datum, long, `\u200b${datum}`]) {
      const record = { ...smallest, reference_id: text, [text]: text, metadata: { [text]: text, key: text } };
      const { rejections, personal } = check(record);
      assert.equal(personal.length, 4, text);
      const repeated = rejection('DUPLICATE_KEY', `metadata.${text}`);
      const said = JSON.stringify([...rejections, ...personal, repeated]);
      for (const part of ['jane', '7946', '0199', '1111', '6789']) assert.ok(!said.includes(part), said);
    }
  }
});

test('looks for personal data only in free text', () => {
  assert.deepEqual(personalIn({ id: mail, name: 'Call 212-555-0199' }), []);
  assert.deepEqual(kinds.balances.freeTexts ?? kinds.grants.freeTexts, undefined);
});

test('looks only in watched fields, and not in a value with another rejection', () => {
  assert.deepEqual(createChecker(schema)({ ...smallest, reference_id: mail }).personal, []);
  const { rejections, personal } = check({ ...smallest, reference_id: mail.repeat(100) });
  assert.deepEqual([rejections.length, personal.length], [1, 0]);
});

test('reports a bounded number of findings, and keeps them apart from other rejections', () => {
  const metadata = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`key${index}`, mail]));
  const { rejections, personal } = check({ ...smallest, extra: 1, metadata });
  assert.equal(personal.length, ingestBounds.importRejectionsOfLine);
  assert.deepEqual(pluck(rejections, 'code'), ['TOO_MANY_KEYS', 'UNKNOWN_FIELD']);
});
