import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer, get as getByTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { tracingBounds } from '../../src/bounds/tracing.ts';
import { createCollectorAgent } from '../../src/tracing/collector-agent.ts';
import { selfSigned } from '../images/certificate.ts';

async function portOf(t: TestContext, server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

test('cuts an answer that does not come to its end in time, and not before', async (t) => {
  const server = createServer((_request, response) => void response.writeHead(200).write(' '));
  const url = `http://127.0.0.1:${await portOf(t, server)}`;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const [answer] = (await once(get(url, { agent: createCollectorAgent(url) }), 'response')) as [
    IncomingMessage,
  ];
  answer.resume();
  t.mock.timers.tick(tracingBounds.tracesAnswerMs - 1);
  assert.equal(answer.socket.destroyed, false);
  const cut = once(answer, 'error');
  t.mock.timers.tick(1);
  assert.equal((await cut)[0].code, 'ECONNRESET');
});

test('trusts and shows the certificates whose files the variables name', async (t) => {
  const { key, cert } = selfSigned('localhost');
  const options = { key, cert, ca: cert, requestCert: true, rejectUnauthorized: false };
  const server = createTlsServer(options, ({ socket }, response) => {
    response.end(String((socket as TLSSocket).authorized));
  });
  const url = `https://localhost:${await portOf(t, server)}`;
  const folder = temporaryFolder(t);
  const set = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    process.env[`OTEL_EXPORTER_OTLP_${name}`] = file;
    t.after(() => delete process.env[`OTEL_EXPORTER_OTLP_${name}`]);
  };
  const ask = async () => {
    const request = getByTls(url, { agent: createCollectorAgent(url), family: 4 });
    const [answer] = await once(request, 'response');
    return (await answer.toArray()).join('');
  };

  await assert.rejects(ask, { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  set('CERTIFICATE', cert);
  assert.equal(await ask(), 'false');
  set('CLIENT_CERTIFICATE', cert);
  set('TRACES_CLIENT_KEY', key);
  assert.equal(await ask(), 'true');

  process.env.OTEL_EXPORTER_OTLP_CERTIFICATE = join(folder, 'none');
  assert.throws(() => createCollectorAgent(url), /^Error: The file of OTEL_EXPORTER_OTLP_CERTIFICATE cannot/);
});
