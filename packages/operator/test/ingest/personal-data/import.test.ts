import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RejectedLine } from '../../../src/ingest/rejections.ts';
import { brand, brandsOf, importInto, openEmpty, reportOf } from '../import-into.ts';

const lines = [
  brand(1),
  brand(2, { metadata: { owner: 'jane@example.com' } }),
  brand(3, { reference_id: '+44 20 7946 0958' }),
  brand(4, { metadata: { 'jane@example.com': '4111111111111111' } }),
];

const fieldsOf = (list: readonly RejectedLine[]) =>
  list.map(({ line, errors }) => [line, ...errors.map(({ field, code }) => `${field} ${code}`)]);

const findings = [
  [2, 'metadata.owner PERSONAL_DATA'],
  [3, 'reference_id PERSONAL_DATA'],
  [4, 'metadata PERSONAL_DATA', 'metadata PERSONAL_DATA'],
];

test('rejects lines with personal data by default, and does not repeat it', async (t) => {
  const store = await openEmpty(t);
  const report = await importInto(store, lines);
  assert.deepEqual([report.read, report.written, report.rejected_count], [4, 0, 3]);
  assert.deepEqual(fieldsOf(report.rejected), findings);
  assert.doesNotMatch(JSON.stringify(report), /jane|7946|1111/);
  assert.deepEqual(await brandsOf(store), []);
  assert.deepEqual(await importInto(store, lines, { personalData: 'reject' }), report);
  assert.equal((await importInto(store, lines, { skipInvalid: true })).written, 1);
});

test('with "warn" writes lines with personal data, and still rejects lines for other reasons', async (t) => {
  const store = await openEmpty(t);
  const warned: RejectedLine[] = [];
  const warn = (line: RejectedLine) => warned.push(line);
  const report = await importInto(store, lines, { personalData: 'warn', warn });
  assert.deepEqual(report, reportOf({ read: 4, written: 4 }));
  assert.deepEqual(fieldsOf(warned), findings);
  assert.doesNotMatch(JSON.stringify(warned), /jane|7946|1111/);
  assert.deepEqual((await brandsOf(store))[1]?.metadata, { owner: 'jane@example.com' });

  const wrong = brand(5, { reference_id: 'jane@example.com', color: 'red' });
  const refused = await importInto(store, [wrong], { personalData: 'warn', warn });
  assert.deepEqual(fieldsOf(refused.rejected), [[1, 'color INVALID_COLOR']]);
  assert.equal(warned.length, 3);
});
