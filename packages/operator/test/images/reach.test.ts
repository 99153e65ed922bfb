import assert from 'node:assert/strict';
import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { download, publicOnly, type Reach } from '../../src/images/download.ts';
import { selfSigned } from './certificate.ts';
import { loopback, serveHttp } from './image-host.ts';
import { png } from './pictures.ts';

const image = png(256, 256);

const timeout = () => AbortSignal.timeout(20_000);

async function outcome(url: string, reach: Reach, signal = timeout()): Promise<string> {
  const result = await download(url, reach, signal);
  return 'failure' in result ? result.failure.code : 'fine';
}

/** Allows this address only, whatever a host resolves to. */
function only(allowed: string, hosts: Record<string, readonly string[]>): Reach & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    isAllowed: (address) => address === allowed,
    resolve: async (host) => {
      asked.push(host);
      return hosts[host] ?? [host];
    },
  };
}

const privateHosts = `
  127.0.0.1 127.1 0x7f.1 0177.0.0.1 2130706433 0 127.0.0.1. %31%32%37.0.0.1
  [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [64:ff9b::7f00:1] [2002:7f00:1::1]
  localhost LOCALHOST localhost. images.localhost ①②⑦.0.0.1
  169.254.169.254 10.0.0.1 [fe80::1] [fd00:ec2::254]
`
  .trim()
  .split(/\s+/);

test('connects to no address of this machine or its network, however it is written', async (t) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  const port = await listenOnAnyPort(t, server, '::');
  for (const host of privateHosts) {
    assert.equal(await outcome(`http://${host}:${port}/logo.png`, publicOnly), 'NOT_PUBLIC', host);
    assert.equal(await outcome(`https://${host}:${port}/logo.png`, publicOnly), 'NOT_PUBLIC', host);
  }
  assert.equal(connections, 0);
});

test('follows a redirect only to a public address', async (t) => {
  const asked: string[] = [];
  const host = await serveHttp(t, ({ url = '' }, response) => {
    asked.push(url);
    if (url === '/logo.png') response.end(image);
    else response.writeHead(302, { location: decodeURIComponent(url.slice(1)) }).end();
  });
  const { port } = new URL(host);
  const reach = only('127.0.0.1', { 'inside.test': ['10.0.0.1'], 'half.test': ['127.0.0.1', '10.0.0.1'] });
  const through = (location: string) => outcome(`${host}/${encodeURIComponent(location)}`, reach);

  assert.equal(await through(`http://127.0.0.1:${port}/logo.png`), 'fine');
  for (const inside of ['10.0.0.1', 'inside.test', 'half.test', '[::1]', '0x0a.1']) {
    assert.equal(await through(`//${inside}:${port}/logo.png`), 'NOT_PUBLIC', inside);
    // Nor after a second redirect.
    assert.equal(await through(`/${encodeURIComponent(`http://${inside}:${port}/logo.png`)}`), 'NOT_PUBLIC');
  }
  assert.equal(asked.filter((path) => path === '/logo.png').length, 1);
});

test('resolves a host once, and connects to the addresses that were checked', async (t) => {
  const host = await serveHttp(t, (_request, response) => response.end(image));
  const answers = [['127.0.0.1'], ['10.0.0.1']];
  const reach = { ...only('127.0.0.1', {}), resolve: async () => answers.shift()! };
  assert.equal(await outcome(`http://rebind.test:${new URL(host).port}/logo.png`, reach), 'fine');
  assert.deepEqual(answers, [['10.0.0.1']]);
});

test('resolves nothing when it is aborted before it starts', async () => {
  const reach = only('127.0.0.1', {});
  assert.equal(await outcome('http://127.0.0.1/logo.png', reach, AbortSignal.abort()), 'TIMED_OUT');
  assert.deepEqual(reach.asked, []);
});

test('does not wait for a silent name server after the time is over', async () => {
  const reach = { ...only('127.0.0.1', {}), resolve: () => new Promise<never>(() => {}) };
  assert.equal(await outcome('http://silent.test/', reach, AbortSignal.timeout(50)), 'TIMED_OUT');
});

test('reports the host that is not public, and nothing else of its URL', async () => {
  const url = 'http://10.0.0.1:8443/path/secret?token=secret#secret';
  assert.deepEqual(await download(url, publicOnly, timeout()), {
    failure: {
      code: 'NOT_PUBLIC',
      detail:
        'Serve the image from a public address: 10.0.0.1 is not public. To allow it, pass --allow-private.',
    },
  });
});

async function serveHttps(t: TestContext, host: string) {
  const { key, cert } = selfSigned(host);
  const server = createTlsServer({ key, cert }, ({ url }, response) => {
    if (url === '/down') response.writeHead(302, { location: `http://${host}/logo.png` }).end();
    else response.end(image);
  });
  return { cert, port: await listenOnAnyPort(t, server) };
}

test('requires a trusted certificate of the host, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async (t) => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  t.after(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
  const { cert, port } = await serveHttps(t, 'images.test');
  const reach = { ...loopback, resolve: async () => ['127.0.0.1'] };
  const get = (url: string) => download(url, reach, timeout());
  const [images, other] = [`https://images.test:${port}`, `https://other.test:${port}`];
  const assertDoubted = async (url: string, code: string) => {
    const result = await get(url);
    assert.ok('failure' in result && result.failure.detail.includes(`is not trusted (${code})`));
  };

  await assertDoubted(images, 'DEPTH_ZERO_SELF_SIGNED_CERT');

  const before = getCACertificates('default');
  t.after(() => setDefaultCACertificates(before));
  setDefaultCACertificates([...before, cert]);
  assert.deepEqual(await get(images), { body: image, isWhole: true });
  await assertDoubted(other, 'ERR_TLS_CERT_ALTNAME_INVALID');
  assert.equal(await outcome(`${images}/down`, reach), 'BAD_REDIRECT');
});
