import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, get } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { selfSigned } from '../../../operator/test/images/certificate.ts';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { createCollectorAgent } from '../../src/tracing/open-telemetry.ts';

test('uses the TLS files of the variables, and rejects a file that cannot be read', async (t) => {
  const { key, cert } = selfSigned('localhost');
  const options = { key, cert, ca: cert, requestCert: true, rejectUnauthorized: false };
  const server = createServer(options, ({ socket }, response) => {
    response.end(String((socket as TLSSocket).authorized));
  });
  const url = `https://localhost:${await listenOnAnyPort(t, server)}`;
  const folder = temporaryFolder(t);
  const set = (name: string, text: string) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    process.env[`OTEL_EXPORTER_OTLP_${name}`] = file;
    t.after(() => delete process.env[`OTEL_EXPORTER_OTLP_${name}`]);
  };
  const ask = async () => {
    const agent = createCollectorAgent(url);
    try {
      const [answer] = await once(get(url, { agent, family: 4 }), 'response');
      return (await answer.toArray()).join('');
    } finally {
      agent.destroy();
    }
  };

  await assert.rejects(ask, { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  set('CERTIFICATE', cert);
  assert.equal(await ask(), 'false');
  set('CLIENT_CERTIFICATE', cert);
  set('TRACES_CLIENT_KEY', key);
  assert.equal(await ask(), 'true');

  process.env.OTEL_EXPORTER_OTLP_CERTIFICATE = join(folder, 'none');
  assert.throws(() => createCollectorAgent(url), /^Error: The file in OTEL_EXPORTER_OTLP_CERTIFICATE cannot/);
});
