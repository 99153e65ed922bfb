import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { OperatorError } from '../../../common/src/errors.ts';
import { selfSigned } from '../../../operator/test/images/certificate.ts';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { fixtureDatabase, openServing } from '../../../testkit/service/database.ts';
import { Connection } from '../../src/postgres/connections/connection.ts';

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
