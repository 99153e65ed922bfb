/** Which operation a path of the administrative API has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminBasePath } from '@partner-network/contract/admin/operations';
import { matchPath } from '../../src/admin/routes.ts';

const match = (path: string) => matchPath(adminBasePath + path);

test('a word of a path comes before an id, which may be the same word', () => {
  const { POST, ...others } = match('/keys/find')!;
  assert.deepEqual(POST, { id: 'findKey', encoded: {} });
  const get = { id: 'getKey', encoded: { id: 'find' } };
  assert.deepEqual(others, { GET: get, HEAD: get, PUT: { ...get, id: 'putKey' } });
  assert.deepEqual(match('/keys/find/revoke'), { POST: { ...get, id: 'revokeKey' } });
});

test('ids stay percent-encoded, and are never empty', () => {
  assert.deepEqual(match('/keys/a%2Fb')?.GET?.encoded, { id: 'a%2Fb' });
  for (const path of ['/keys/', '/keys//revoke', '/keys/a/b/revoke', '/keys/a/']) {
    assert.equal(match(path), undefined, path);
  }
});
