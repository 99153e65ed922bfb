import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggest } from '../src/suggest.ts';

const names = ['customer_id', 'type', 'grant_id', 'cursor', 'limit'];

test('suggests the nearest name within three edits, if at least half of what was typed is right', () => {
  assert.equal(suggest('LIMT', names), 'limit');
  assert.equal(suggest('customer', names), 'customer_id');
  assert.equal(suggest('customerid', names), 'customer_id');
  assert.equal(suggest('custid_id', names), undefined);
  assert.equal(suggest('', names), undefined);
});

test('does not measure names of another length, however long they are', () => {
  const startMs = performance.now();
  assert.equal(suggest('c'.repeat(2_000_000), names), undefined);
  assert.ok(performance.now() - startMs < 500);
});
