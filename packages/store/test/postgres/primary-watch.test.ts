import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { freePort } from '../../../testkit/servers/free-port.ts';
import { Connection } from '../../src/postgres/connections/connection.ts';
import { PrimaryWatch } from '../../src/postgres/connections/primary-watch.ts';

test('a long search for a lost primary releases its failed connections', async (t) => {
  const abandon = t.mock.method(Connection.prototype, 'abandon');
  const url = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
  const connection = new Connection({ connectionString: url });
  const identity = { system: '1', timeline: '00000001', startedAt: '', database: '1' };
  const server = { role: 'primary', ...identity } as const;
  const watch = new PrimaryWatch([url], 'sandbox', { url, connection, server });
  connection.emit('end');
  await until(20_000, () => abandon.mock.callCount() >= 4);
  abandon.mock.resetCalls();
  await watch.close();
  assert.ok(abandon.mock.callCount() <= 1, 'only an attempt that is under way is abandoned');
});
