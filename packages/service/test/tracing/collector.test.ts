/** How spans are sent. What a trace says is in `trace.test.ts`. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { tracingBounds } from '../../../common/src/bounds/service.ts';
import { selfSigned } from '../../../operator/test/images/certificate.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { createDelivery, createSender } from '../../src/tracing/collector.ts';

test('keeps a bounded number of spans for a dead collector, and logs lost spans once a minute', async () => {
  const sent: number[] = [];
  const refuse: ((reason: unknown) => void)[] = [];
  const send = (body: string) => {
    sent.push(JSON.parse(body).resourceSpans[0].scopeSpans[0].spans.length);
    return new Promise<void>((_, reject) => refuse.push(reject));
  };
  const clock = { ms: 0 };
  const { log, lines } = watchedLog();
  const delivery = createDelivery(send, {}, log, () => clock.ms);
  const logged = () => lines().map(({ reason, spans }) => [reason, spans]);

  for (let ended = 0; ended < tracingBounds.waiting + 10; ended += 1) delivery.add({});
  assert.deepEqual(new Set(sent), new Set([tracingBounds.batch]));
  assert.deepEqual(logged(), [['too many spans are waiting', 1]]);
  clock.ms = tracingBounds.warnMs;
  delivery.add({});
  assert.deepEqual(logged().slice(1), [['too many spans are waiting', 10]]);

  clock.ms *= 2;
  refuse.shift()!(401);
  await turn();
  assert.deepEqual(logged().slice(2), [[401, tracingBounds.batch]]);
  // There is room again, and a last batch may be smaller.
  delivery.add({});
  const closed = delivery.close();
  assert.equal(sent.at(-1), 1);
  for (const answer of refuse) answer('ECONNRESET');
  await closed;
  assert.equal(lines().length, 3);
});

test('uses the headers, the compression and the TLS files of the variables', async (t) => {
  const { key, cert } = selfSigned('localhost');
  const options = { key, cert, ca: cert, requestCert: true, rejectUnauthorized: false };
  const received: unknown[] = [];
  const server = createServer(options, async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const isPacked = request.headers['content-encoding'] === 'gzip';
    const text = String(isPacked ? gunzipSync(body) : body);
    received.push([text, isPacked, request.headers['api-key'], (request.socket as TLSSocket).authorized]);
    if (text === 'upgraded') response.writeHead(101, { Connection: 'Upgrade', Upgrade: 'other' }).end();
    else response.writeHead(text === 'refused' ? 400 : 200).end('secret');
  });
  const url = `https://localhost:${await listenOnAnyPort(t, server)}`;
  const folder = temporaryFolder(t);
  const set = (name: string, value: string) => {
    process.env[`OTEL_EXPORTER_OTLP_${name}`] = value;
    t.after(() => delete process.env[`OTEL_EXPORTER_OTLP_${name}`]);
  };
  const setFile = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    set(name, join(folder, name));
  };
  const send = (text: string) => createSender(url)(text);

  await assert.rejects(send('one'), (reason) => reason === 'DEPTH_ZERO_SELF_SIGNED_CERT');
  setFile('CERTIFICATE', cert);
  await send('two');
  setFile('CLIENT_CERTIFICATE', cert);
  setFile('TRACES_CLIENT_KEY', key);
  set('COMPRESSION', 'gzip');
  set('HEADERS', ' api-key = a%20b= , content-length=1,');
  await send('three');
  await assert.rejects(send('refused'), (reason) => reason === 400);
  assert.deepEqual(received, [
    ['two', false, undefined, false],
    ['three', true, 'a b=', true],
    ['refused', true, 'a b=', true],
  ]);
  await assert.rejects(send('upgraded'), (reason) => reason === 'no response');

  for (const header of ['api-key=secret%0A', 'api:key=secret', 'api-key=%E2%82%ACsecret']) {
    set('HEADERS', header);
    assert.throws(
      () => createSender(url),
      /^Error: OTEL_EXPORTER_OTLP_HEADERS has a character that a header/,
    );
  }
  set('HEADERS', '');
  set('CERTIFICATE', join(folder, 'none'));
  assert.throws(() => createSender(url), /^Error: The file in OTEL_EXPORTER_OTLP_CERTIFICATE cannot/);
});
