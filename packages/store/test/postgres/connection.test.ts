import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { selfSigned } from '../../../operator/test/images/certificate.ts';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { Connection } from '../../src/postgres/connections/connection.ts';

/** What a server sends that wants Kerberos, which `pg` does not know. */
const kerberos = Buffer.from('520000000800000007', 'hex');

for (const sslmode of ['disable', 'no-verify']) {
  test(`an unknown message of the server fails the connection, not the process: ${sslmode}`, async (t) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        if (sslmode === 'disable') return socket.write(kerberos);
        socket.write('S');
        const tls = new TLSSocket(socket, { isServer: true, ...selfSigned('localhost') });
        tls.on('error', () => {}).once('data', () => tls.write(kerberos));
      });
    });
    const port = await listenOnAnyPort(t, server);
    const connection = new Connection({
      connectionString: `postgres://user@127.0.0.1:${port}/any?sslmode=${sslmode}`,
    });
    await assert.rejects(connection.connect(), /authentication/i);
  });
}
