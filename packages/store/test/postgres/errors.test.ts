import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { DatabaseError } from 'pg';
import { freePort } from '../../../testkit/servers/free-port.ts';
import { connectTo, emptyDatabase } from '../../../testkit/servers/postgres.ts';
import { migratedDatabase } from '../../../testkit/service/database.ts';
import { StoreUnavailable } from '../../src/port.ts';
import { Connection } from '../../src/postgres/connections/connection.ts';
import { breaksConnection, translated } from '../../src/postgres/connections/errors.ts';
import { createImports } from '../../src/postgres/imports/imports.ts';
import { plainBalance } from '../suite/records.ts';

test('reports a closed connection in words for an operator', async () => {
  const client = new Connection({ connectionString: `postgres://127.0.0.1:${await freePort()}` });
  await assert.rejects(client.connect());
  const asked = await client.query('select 1').then(String, (error: Error) => error);
  const known = 'Client has encountered a connection error and is not queryable';
  for (const error of [asked, new Error(known)]) {
    const converted = translated(error);
    assert.ok(converted instanceof StoreUnavailable);
    assert.equal(converted.message, 'The database cannot be reached (the connection was lost).');
  }
});

test('never repeats a value that the server rejects', async (t) => {
  const client = await connectTo(t, await emptyDatabase(t));
  await client.query('create table things (id text primary key, price integer check (price > 0))');
  await client.query('insert into things values (\'of "Alice"\', 1)');
  const refused = [
    ['select $1::bigint', ['of "Alice"']],
    ['select $1::timestamptz', ['of "Alice"']],
    ['select $1::json', ['of "Alice"']],
    ['select $1::text::integer', ['4242424242']],
    ['insert into things values ($1, 1)', ['of "Alice"']],
    ['insert into things values ($1, -1)', ['of "Alice"']],
    ['select * from things where id = $1 and missing', ['of "Alice"']],
  ] as const;
  for (const [statement, values] of refused) {
    const fault = await client.query(statement, [...values]).then(String, translated);
    assert.ok(fault instanceof Error);
    const converted = JSON.stringify(Object.entries(fault)) + fault.message + fault.stack;
    assert.doesNotMatch(converted, /Alice|4242424242/, statement);
  }
});

test('a node that is lost within a transaction is a 503, and its connection is replaced', async (t) => {
  const client = await connectTo(t, await emptyDatabase(t));
  for (const [message, isUnavailable] of [
    ['failure on connection marked as essential: 10.0.0.1:5432', true],
    ['terminating connection due to administrator command', true],
    ['SSL SYSCALL error: EOF detected', true],
    ['the cache of relation 1234 is broken', false],
  ] as const) {
    const statement = `do $$ begin raise sqlstate 'XX000' using message = '${message}'; end $$`;
    const fault = await client.query(statement).then(String, (error: Error) => error);
    assert.equal(translated(fault) instanceof StoreUnavailable, isUnavailable);
    assert.equal(breaksConnection(fault), isUnavailable);
  }
});

test('an import that loses a node before its savepoint reports the lost node', async (t) => {
  const connection = new Connection({ connectionString: await migratedDatabase(t) });
  await connection.connect();
  const run = await createImports(
    async () => connection,
    async () => [],
  ).beginImport('balances', { pace: 'fast' });
  t.after(run.end);
  await run.stage([plainBalance('alice', 'b')]);
  const lost = Object.assign(new DatabaseError('SSL SYSCALL error: EOF detected', 0, 'error'), {
    code: 'XX000',
  });
  const query = connection.query.bind(connection);
  t.mock.method(connection, 'query', (sent: string | object) =>
    typeof sent === 'string' ? query(sent) : new Writable({ write: (_text, _encoding, done) => done(lost) }),
  );
  await assert.rejects(run.write({ mode: 'keep' }), (error: Error) => {
    assert.ok(error instanceof StoreUnavailable);
    assert.match(error.message, /EOF detected/);
    return true;
  });
});

test('an error about another node does not break the connection', async (t) => {
  const client = await connectTo(t, await emptyDatabase(t));
  const errorOf = (statement: string) => client.query(statement).then(String, (error: Error) => error);
  const raising = (code: string) =>
    `do $$ begin raise sqlstate '${code}' using message = e'no node\\n\\tIs it running?'; end $$`;
  const ofNode = await errorOf(raising('08006'));
  assert.ok(translated(ofNode) instanceof StoreUnavailable);
  assert.equal(translated(ofNode).message, 'The database cannot answer now (no node, 08006).');
  assert.equal(breaksConnection(ofNode), false);
  for (const code of ['57P01', '58030', '25006'])
    assert.equal(breaksConnection(await errorOf(raising(code))), true);
  const ended = await errorOf('select pg_terminate_backend(pg_backend_pid())');
  assert.equal(breaksConnection(ended), true);
  assert.equal(breaksConnection(Object.assign(ended as Error, { code: '08006' })), true);
});
