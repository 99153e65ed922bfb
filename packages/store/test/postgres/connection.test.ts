import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { OperatorError } from '../../../common/src/errors.ts';
import { selfSigned } from '../../../operator/test/images/certificate.ts';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { fixtureDatabase, migratedDatabase, openServing } from '../../../testkit/service/database.ts';
import { Connection } from '../../src/postgres/connections/connection.ts';
import { runPrepared } from '../../src/postgres/connections/prepared.ts';

/** What a server sends that wants Kerberos, which `pg` does not know. */
const kerberos = Buffer.from('520000000800000007', 'hex');

/** Listens, and passes on the socket of each client that has sent its first bytes. */
function listenAndSend(t: TestContext, send: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => send(socket));
  });
  return listenOnAnyPort(t, server);
}

for (const sslmode of ['disable', 'no-verify']) {
  test(`an unknown message of the server fails the connection, not the process: ${sslmode}`, async (t) => {
    const port = await listenAndSend(t, (socket) => {
      if (sslmode === 'disable') return void socket.write(kerberos);
      socket.write('S');
      const tls = new TLSSocket(socket, { isServer: true, ...selfSigned('localhost') });
      tls.on('error', () => {}).once('data', () => tls.write(kerberos));
    });
    const connection = new Connection({
      connectionString: `postgres://user@127.0.0.1:${port}/any?sslmode=${sslmode}`,
    });
    await assert.rejects(connection.connect(), /authentication/i);
  });
}

for (const [what, answer] of Object.entries({
  'an unknown way to log in': kerberos,
  'rows that end too early': Buffer.from([84, 0, 0, 0, 6, 127, 255]),
  'a web page': Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'nothing and hangs up': undefined,
})) {
  test(`a server that sends ${what} is neither used as a database nor as a replica`, async (t) => {
    const port = await listenAndSend(t, (socket) => {
      if (answer === undefined) socket.end();
      else socket.write(answer);
    });
    const url = `postgres://x@127.0.0.1:${port}/network`;
    await assert.rejects(openServing(t, url), OperatorError);
    const store = await openServing(t, await fixtureDatabase(t), { replicas: [url] });
    for (let round = 0; round < 5; round += 1) {
      const query = { partnerId: 'acme', referenceId: undefined, after: '', limit: 2 };
      assert.match((await store.listBrands(query)).records, /"id":"b1".*"id":"b2"/s);
    }
  });
}

/** What `prepared.ts` uses of the inside of `pg`, which no version promises to keep. */
const steps = ['close', 'parse', 'describe', 'bind', 'execute', 'sync'] as const;

const statement = {
  name: 'every_type',
  text: `select $1::text as text, $2::integer as number, $3::bytea as bytes, $4::timestamptz as time,
    null as nothing, true as truth from generate_series(1, 2)`,
};
const time = '2026-11-18T20:00:00.000Z';
const row = { text: 'é', number: 7, bytes: Buffer.of(0, 255), time, nothing: null, truth: true };

test('pg still sends and reads a named statement as `prepared.ts` expects', async (t) => {
  const connection = new Connection({ connectionString: await migratedDatabase(t) });
  await connection.connect();
  t.after(() => connection.leave());
  const sent: string[] = [];
  for (const step of steps) {
    const original = connection.connection[step] as (...values: unknown[]) => void;
    assert.equal(typeof original, 'function', `pg has no ${step} any more`);
    t.mock.method(connection.connection, step, (...values: unknown[]) => {
      sent.push(step);
      original.apply(connection.connection, values);
    });
  }
  const run = () => runPrepared(connection, statement, ['é', 7, new Uint8Array([0, 255]), time]);

  assert.deepEqual(await run(), [row, row]);
  assert.deepEqual(sent.splice(0), steps);

  assert.deepEqual(await run(), [row, row]);
  assert.deepEqual(sent, ['bind', 'execute', 'sync']);

  const failing = { name: 'failing', text: 'select 1 / $1::integer as result' };
  await assert.rejects(runPrepared(connection, failing, [0]), { code: '22012' });
  assert.deepEqual(await runPrepared(connection, failing, [1]), [{ result: 1 }]);
});
