import assert from 'node:assert/strict';
import { test } from 'node:test';
import { money } from '../src/money.ts';

test('writes amounts to the last cent, with the decimals of their currency if it is known', () => {
  for (const [amount, shown, currency = 'USD'] of [
    [125_050, '$1,250.50'],
    [-300, '-$3.00'],
    [0, '$0.00'],
    [-1, '-$0.01'],
    [Number.MAX_SAFE_INTEGER, '$90,071,992,547,409.91'],
    [Number.MIN_SAFE_INTEGER, '-$90,071,992,547,409.91'],
    [125_050, '¥125,050', 'JPY'],
    [125_050, '125050 dollars', 'dollars'],
  ] as const) {
    assert.equal(money(amount, currency), shown);
  }
});
