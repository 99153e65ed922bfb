import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { maskSecrets } from '../src/text.ts';

test('masks a key and the beginning of a key, but not the prefix alone, which messages name', () => {
  const message = 'Use a key that starts with pn_test_: this is the sandbox environment.';
  assert.equal(maskSecrets(message), message);
  assert.equal(maskSecrets(`"${keys.acme}" "${keys.acme.slice(0, 9)}"`), '"[key]" "[key]"');
});
