/** TLS, client certificates and blocked addresses of the HAProxy configuration, with real certificates. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { temporaryFolder, until } from '../packages/testkit/fixtures/lifetime.ts';
import { freePort, listenOnAnyPort } from '../packages/testkit/servers/free-port.ts';
import { faultsOfConfig, startHaproxy, withoutHaproxy } from '../packages/testkit/servers/haproxy.ts';
import { programsOnPath } from '../packages/testkit/servers/programs.ts';

const [openssl] = programsOnPath(['openssl'], []);
const withoutPrograms = withoutHaproxy || (openssl === undefined && 'needs openssl');
const folder = temporaryFolder({ after });

/** A new certificate with its key, in one file as HAProxy reads it. It is its own authority. */
function certificate(name: string) {
  const key = join(folder, 'key.pem');
  const cert = join(folder, 'cert.pem');
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  execFileSync(openssl!, ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...names], {
    stdio: 'pipe',
  });
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  return { ...made, pem: made.cert + made.key };
}

function fileOf(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** A server in place of an instance. It answers 401 to requests without a good key. */
async function standIn(t: TestContext, name: string) {
  const server = createServer(({ headers, url }, response) => {
    const isOpen = ['/readyz', '/network/v1/openapi.json'].includes(url!);
    const isRefused = !/^Bearer KEY/.test(headers.authorization ?? '') && !isOpen;
    response
      .writeHead(isRefused ? 401 : 200, { 'X-Request-Id': 'of-the-service', 'X-Served-By': name })
      .end();
  });
  const port = await listenOnAnyPort(t, server);
  return { port, operationsPort: port };
}

/** One request on a connection of its own. */
async function call(port: number, options: RequestOptions) {
  const headers = options.headers ?? { Authorization: 'Bearer KEY' };
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string; serial: string }>(
    (resolve, reject) => {
      const path = '/network/v1/brands';
      const sent = request({ host: '127.0.0.1', port, path, agent: false, ...options, headers });
      sent.on('error', reject).on('response', async (response) => {
        const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate();
        const { statusCode, headers } = response;
        resolve({ status: statusCode!, headers, body: await text(response), serial: serialNumber });
      });
      sent.end();
    },
  );
}

/** HAProxy with TLS for partners and an address for administrators. */
async function startProxy(t: TestContext) {
  const [server, admin, client] = ['server', 'admin', 'client'].map(certificate) as [Made, Made, Made];
  const [one, two, administration] = await Promise.all(
    ['one', 'two', 'admin'].map((name) => standIn(t, name)),
  );
  const adminPort = await freePort();
  const file = fileOf('network.pem', server.pem);
  const settings = {
    CERTIFICATE: file,
    ADMIN_CERTIFICATE: fileOf('admin.pem', admin.pem),
    ADMIN_CLIENT_CA: fileOf('clients.pem', client.cert),
    ADMIN_LISTEN: `127.0.0.1:${adminPort}`,
    ADMIN_INSTANCE: `127.0.0.1:${administration!.port}`,
  };
  assert.equal(faultsOfConfig(settings), '');
  const proxy = await startHaproxy(t, [one!, two!], undefined, settings);
  return { ...proxy, adminPort, file, server, admin, client };
}

type Made = ReturnType<typeof certificate>;

test('the shipped configuration with TLS', { skip: withoutPrograms }, async (t) => {
  const proxy = await startProxy(t);
  const { port, adminPort, server, admin, client, file } = proxy;
  const ca = server.cert;

  await t.test('speaks TLS 1.2 and 1.3 and nothing else, and has HSTS', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { status, headers } = await call(port, { ca, minVersion: version, maxVersion: version });
      assert.deepEqual([status, headers['strict-transport-security']], [200, 'max-age=31536000']);
    }
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await assert.rejects(call(port, { ca, ...old }), /alert protocol version/);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/`), 'plain HTTP is not answered');
  });

  await t.test('lets only known client certificates reach the administrative service', async () => {
    const known = { ca: admin.cert, cert: client.cert, key: client.key };
    const { status, headers } = await call(adminPort, known);
    assert.deepEqual([status, headers['x-served-by']], [200, 'admin']);
    assert.equal(headers['strict-transport-security'], 'max-age=31536000');
    const stranger = certificate('client');
    await assert.rejects(call(adminPort, { ca: admin.cert, cert: stranger.cert, key: stranger.key }));
    await assert.rejects(call(adminPort, { ca: admin.cert }), /alert certificate required/);
    const ofPartners = await call(port, { ...known, ca, path: '/admin/v1/partners' });
    assert.match(String(ofPartners.headers['x-served-by']), /^(one|two)$/);
  });

  await t.test('uses a renewed certificate after a reload, and no connection fails', async () => {
    const renewed = certificate('server');
    const trusted = { ca: [server.cert, renewed.cert] };
    const before = (await call(port, trusted)).serial;
    const serials: string[] = [];
    let isDone = false;
    const caller = (async () => {
      while (!isDone) serials.push((await call(port, trusted)).serial);
    })();
    writeFileSync(file, renewed.pem);
    proxy.reload();
    await until(30_000, () => serials.length > 20 && !serials.slice(-20).includes(before));
    isDone = true;
    await caller;
  });

  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  /** The answer to a request with this key, from an address of this machine. */
  const send = (key: string | undefined, localAddress = '127.0.0.1') => {
    const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
    // Connections of one agent have one address.
    const options = localAddress === '127.0.0.1' ? { agent } : { localAddress };
    return call(port, { ca: readFileSync(file, 'utf8'), headers, ...options });
  };

  for (const [what, key] of [
    ['a wrong key', 'WRONG'],
    ['no key', undefined],
  ] as const) {
    await t.test(`an address gets 429 after 300 requests with ${what}, and its other keys work`, async () => {
      let last = await send(key);
      let refused = 1;
      for (; refused < 400 && last.status === 401; refused += 1) last = await send(key);
      assert.ok(last.status === 429 && refused > 300, `${refused} requests`);
      const [{ category, code }] = JSON.parse(last.body).errors;
      assert.deepEqual(
        [category, code, last.headers['retry-after']],
        ['RATE_LIMIT_ERROR', 'RATE_LIMITED', '60'],
      );
      assert.notEqual(last.headers['x-request-id'], undefined);
      assert.equal((await send('KEY')).status, 200);
      // Other systems than Linux have only one loopback address.
      if (process.platform === 'linux') assert.equal((await send(key, '127.0.0.2')).status, 401);
    });
  }

  await t.test('a flood of random keys gets 429, and the keys that worked before still work', async () => {
    let statuses = await Promise.all(['KEY', 'RANDOM'].map((key) => send(key)));
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [200, 401],
    );
    // A page that needs no key does not make a key known.
    const headers = { Authorization: 'Bearer RANDOM' };
    const options = { agent, path: '/network/v1/openapi.json', headers };
    await call(port, { ca: readFileSync(file, 'utf8'), ...options });
    let sent = 0;
    for (let last = 401; last === 401 && sent < 4_000; sent += 1) last = (await send(`RANDOM${sent}`)).status;
    assert.ok(sent > 2_000 && sent < 4_000, `${sent} requests`);
    statuses = await Promise.all(['RANDOM', 'KEY', 'KEY'].map((key) => send(key)));
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [429, 200, 200],
    );
    if (process.platform === 'linux') assert.equal((await send('KEY_2', '127.0.0.2')).status, 200);
  });
});
