import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpBounds } from '../src/bounds/http.ts';
import { connectionsWithin, openFileLimit } from '../src/process.ts';

test('fewer connections are allowed where fewer files may be open', () => {
  const { connections, clientsShare, operationsConnections, operatorsShare } = httpBounds;
  const clients = (openFiles: number) => connectionsWithin(connections, clientsShare, openFiles);
  const operators = (openFiles: number) =>
    connectionsWithin(operationsConnections, operatorsShare, openFiles);
  assert.deepEqual([clients(1_024), operators(1_024)], [768, 51]);
  const unlimited = Number.POSITIVE_INFINITY;
  assert.deepEqual([clients(unlimited), operators(unlimited)], [connections, operationsConnections]);
});

test('on Linux, the limit of open files is what Node reports', () => {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: unknown } } };
  const reported = userLimits?.open_files.soft;
  const isKnown = process.platform === 'linux' && typeof reported === 'number';
  assert.equal(openFileLimit(), isKnown ? reported : undefined);
});
