import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Check } from 'typebox/schema';
import { type ErrorCode, errorCatalogue, errorCategories, errorRecord } from '../src/errors.ts';
import { errorRecordSchema } from '../src/records.ts';

const codes = Object.keys(errorCatalogue) as ErrorCode[];

test('every error has a status, a category of the specification and two sentences', () => {
  for (const code of codes) {
    const { status, category, when, detail } = errorCatalogue[code];
    assert.ok(status >= 400 && status < 600);
    assert.ok(errorCategories.includes(category));
    assert.match(when, /^[A-Z].*\.$/);
    assert.match(detail, /^[A-Z{][^.?]*(?:HTTP\/1\.1[^.?]*)?\.$/, 'one sentence');
  }
});

test('an error record has its fields in order and fits its own schema', () => {
  const record = errorRecord('VALUE_TOO_LONG', { max: 3 }, 'cursor');
  assert.equal(
    JSON.stringify(record),
    '{"category":"INVALID_REQUEST_ERROR","code":"VALUE_TOO_LONG","detail":"Shorten cursor to at most 3 characters.","field":"cursor"}',
  );
  for (const code of codes) assert.ok(Check(errorRecordSchema, errorRecord(code)));
});

test('an empty field is left out: the schema requires at least one character', () => {
  assert.equal('field' in errorRecord('UNKNOWN_QUERY_PARAMETER', { name: 'x', nearest: 'y' }, ''), false);
});
