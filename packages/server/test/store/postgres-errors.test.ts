import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '../../src/store/port.ts';
import { Connection } from '../../src/store/postgres/connection.ts';
import { translated } from '../../src/store/postgres/errors.ts';
import { freePort } from '../support/free-port.ts';

test('tells of a connection that is no more in words for an operator', async () => {
  const client = new Connection({ host: '127.0.0.1', port: await freePort() });
  await assert.rejects(client.connect());
  const asked = await client.query('select 1').then(String, (error: Error) => error);
  const known = 'Client has encountered a connection error and is not queryable';
  for (const error of [asked, new Error(known)]) {
    const told = translated(error);
    assert.ok(told instanceof StoreUnavailable);
    assert.equal(told.message, 'The database cannot be reached (the connection broke off).');
  }
});
