import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecordCheck, type RecordOptions } from '../../src/ingest/record-check.ts';
import { smallest } from './check-line.ts';

const partners = { findPartner: async (id: string) => (id === 'acme' ? ({ id } as never) : undefined) };
const minutes = (ahead: number) => new Date(Date.now() + ahead * 60_000).toISOString();
const brand = { ...smallest.brands, partner_id: 'acme', id: '1' };
const [past, later] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
const ahead = 'Correct the time: it is more than 5 minutes ahead of the clock of this machine.';

/** The sentences for a line, each with its field and code. */
async function said(options: RecordOptions, value: object): Promise<string[]> {
  const [checked] = await createRecordCheck(partners, options)([{ line: 1, value }]);
  return checked!.faults.map(({ field, code, detail }) => `${field}: ${code}: ${detail}`);
}

const rules: readonly [what: string, options: RecordOptions, line: object, sentences: string[]][] = [
  [
    'every time that is more than 5 minutes ahead',
    { kind: 'balances' },
    { ...smallest.balances, created_at: minutes(6), updated_at: minutes(7) },
    [`created_at: INVALID_TIME: ${ahead}`, `updated_at: INVALID_TIME: ${ahead}`],
  ],
  [
    'a deletion that is more than 5 minutes ahead',
    { kind: 'brands' },
    { ...brand, deleted_at: minutes(6) },
    [`deleted_at: INVALID_TIME: ${ahead}`],
  ],
  [
    'an update before the creation',
    { kind: 'balances' },
    { ...smallest.balances, created_at: later, updated_at: past },
    ['updated_at: INVALID_TIME: Correct the time: updated_at must not be before created_at.'],
  ],
  [
    'a deletion without an id',
    { kind: 'balances' },
    { customer_id: 'alice', deleted_at: past },
    ['id: MISSING_REQUIRED_FIELD: Add this field: it is required.'],
  ],
  [
    'a deletion of a grant',
    { kind: 'grants' },
    { ...smallest.grants, id: '1', deleted_at: past },
    [
      'deleted_at: UNKNOWN_FIELD: Remove this field: a line cannot delete a grant. ' +
        'Set the status to REVOKED instead.',
    ],
  ],
  [
    'a brand without a partner',
    { kind: 'brands' },
    smallest.brands,
    ['partner_id: MISSING_REQUIRED_FIELD: Add this field, or name the partner of all brands with --partner.'],
  ],
  [
    'a brand of another partner than that of --partner',
    { kind: 'brands', partnerId: 'zenith' },
    brand,
    [
      'partner_id: IMMUTABLE_FIELD: Correct this field: --partner names another partner. ' +
        'Without --partner, each line names its own.',
    ],
  ],
  [
    'a deletion of an unknown partner',
    { kind: 'brands' },
    { partner_id: 'nobody', id: '1', deleted_at: past },
    ['partner_id: UNKNOWN_PARTNER: Create this partner first, or correct its id.'],
  ],
];

for (const [what, options, line, sentences] of rules) {
  test(`rejects ${what}`, async () => {
    assert.deepEqual(await said(options, line), sentences);
  });
}

test('takes times up to 5 minutes ahead, and ignores the other fields of a deletion', async () => {
  assert.deepEqual(await said({ kind: 'brands' }, { ...brand, updated_at: minutes(4) }), []);
  assert.deepEqual(await said({ kind: 'brands' }, { ...brand, name: 7, deleted_at: minutes(4) }), []);
  assert.deepEqual(await said({ kind: 'brands' }, { ...brand, deleted_at: null }), []);
});
