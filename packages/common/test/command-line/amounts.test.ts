import assert from 'node:assert/strict';
import { test } from 'node:test';
import { money, shortTime } from '../../src/command-line/amounts.ts';

test('writes cents as dollars, to the last cent of the largest amounts', () => {
  for (const [amount, shown] of [
    [125_050, '$1,250.50'],
    [-300, '-$3.00'],
    [0, '$0.00'],
    [-1, '-$0.01'],
    [Number.MAX_SAFE_INTEGER, '$90,071,992,547,409.91'],
    [Number.MIN_SAFE_INTEGER, '-$90,071,992,547,409.91'],
  ] as const) {
    assert.equal(money(amount, 'USD'), shown);
  }
});

test('uses the decimals of the currency, and shows an unknown currency unchanged', () => {
  assert.equal(money(125_050, 'JPY'), '¥125,050');
  assert.equal(money(125_050, 'dollars'), '125050 dollars');
});

test('cuts a time to the minute', () => {
  assert.equal(shortTime('2026-01-31T08:05:59.999Z'), '2026-01-31 08:05');
  assert.equal(shortTime(undefined), '');
});
