import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpBounds } from '../src/bounds/http.ts';
import { connectionsWithin, openFileLimit, operatorsWithin } from '../src/process.ts';

test('fewer connections are allowed where fewer files may be open', () => {
  assert.equal(connectionsWithin(1_024), 768);
  assert.equal(connectionsWithin(1_048_576), httpBounds.connections);
  assert.equal(connectionsWithin(undefined), httpBounds.connections);
  assert.equal(operatorsWithin(1_024), 51);
  assert.equal(operatorsWithin(1_048_576), httpBounds.operationsConnections);
  assert.equal(operatorsWithin(undefined), httpBounds.operationsConnections);
});

test('on Linux, the limit of open files is what Node reports', () => {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: unknown } } };
  const reported = userLimits?.open_files.soft;
  const isKnown = process.platform === 'linux' && typeof reported === 'number';
  assert.equal(openFileLimit(), isKnown ? reported : undefined);
});
