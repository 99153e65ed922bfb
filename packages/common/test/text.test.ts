import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newAdminKey } from '../../service/src/auth.ts';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { holdsKey, maskSecrets, suggest } from '../src/text.ts';

test('masks a key and the beginning of a key, but not the prefix alone, which messages name', () => {
  const message = 'Use a key that starts with pn_test_: this is the sandbox environment.';
  assert.equal(maskSecrets(message), message);
  assert.equal(maskSecrets(`"${keys.acme}" "${keys.acme.slice(0, 9)}"`), '"[key]" "[key]"');
  const admin = newAdminKey('production');
  assert.equal(maskSecrets(`"${admin}" "${admin.slice(0, 10)}" pna_live_`), '"[key]" "[key]" pna_live_');
  assert.deepEqual([admin, keys.acme, message].map(holdsKey), [true, true, false]);
});

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
