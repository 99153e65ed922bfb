import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminRoles, mayUse } from '../src/permissions.ts';

test('an administrative role may send its own requests, and those of the roles that it covers', () => {
  const allowed = adminRoles.map((role) => adminRoles.filter((needed) => mayUse(role, needed)).join(' '));
  assert.deepEqual(allowed, ['VIEWER', 'INGEST', 'VIEWER SUPPORT', 'VIEWER INGEST SUPPORT ADMIN']);
});
