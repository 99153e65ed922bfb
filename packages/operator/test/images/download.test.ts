import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Download, download, resolveBySystem, resolveInDns } from '../../src/images/download.ts';
import { loopback, serveHttp, serveRaw } from './image-host.ts';
import { png } from './pictures.ts';

const image = png(256, 256);
const most = 1_999_999;

function get(url: string, limitMs = 20_000): Promise<Download> {
  return download(url, loopback, AbortSignal.timeout(limitMs));
}

/** The code of a failure, or the number of bytes, with "cut" if the image was longer. */
function outcome(result: Download): string {
  if ('failure' in result) return result.failure.code;
  return `${result.body.length}${result.isWhole ? '' : ' cut'}`;
}

function send(status: number, headers: Record<string, string> = {}, body: Buffer = image): RequestListener {
  return (_request, response) => {
    const length = status === 204 ? {} : { 'content-length': String(body.length) };
    response.writeHead(status, { ...length, ...headers }).end(body);
  };
}

const to = (location: string, status = 302) => send(status, { location });

/** Sends a body without a content-length. */
function stream(bytes: number) {
  return (_request: unknown, response: ServerResponse) => {
    response.writeHead(200).write(Buffer.alloc(1_000));
    response.end(Buffer.alloc(bytes - 1_000));
  };
}

const answers: Record<string, readonly [answer: RequestListener, expected: string]> = {
  '/logo.png': [send(200), String(image.length)],
  '/most.png': [send(200, {}, Buffer.alloc(most)), String(most)],
  '/too-large.png': [send(200, {}, Buffer.alloc(most + 1)), 'TOO_LARGE'],
  '/most-streamed.png': [stream(most), String(most)],
  '/too-large-streamed.png': [stream(most + 1), '2000000 cut'],
  '/empty.png': [send(200, {}, Buffer.alloc(0)), '0'],
  '/plain.png': [send(200, { 'content-encoding': 'identity' }), String(image.length)],
  '/gzip.png': [send(200, { 'content-encoding': 'gzip' }, gzipSync(image)), 'ENCODED'],
  '/gone.png': [send(404), 'BAD_STATUS'],
  '/no-content.png': [send(204, {}, Buffer.alloc(0)), 'BAD_STATUS'],
  '/part.png': [send(206), 'BAD_STATUS'],
  '/choice.png': [send(300, { location: '/logo.png' }), 'BAD_STATUS'],
  '/broken.png': [send(500), 'BAD_STATUS'],
  '/301': [to('/logo.png', 301), String(image.length)],
  '/303': [to('logo.png', 303), String(image.length)],
  '/307': [to('/logo.png', 307), String(image.length)],
  '/308': [to('/logo.png#top', 308), String(image.length)],
  '/once': [to('/logo.png'), String(image.length)],
  '/twice': [to('/once'), String(image.length)],
  '/three-times': [to('/twice'), String(image.length)],
  '/four-times': [to('/three-times'), 'TOO_MANY_REDIRECTS'],
  '/round-and-round': [to('/round-and-round'), 'TOO_MANY_REDIRECTS'],
  '/to-nowhere': [send(302), 'BAD_REDIRECT'],
  '/to-no-url': [to('http://'), 'BAD_REDIRECT'],
  '/to-a-file': [to('file:///etc/passwd'), 'BAD_REDIRECT'],
  '/to-ftp': [to('ftp://127.0.0.1/logo.png'), 'BAD_REDIRECT'],
  '/to-data': [to('data:image/png;base64,AAAA'), 'BAD_REDIRECT'],
  '/to-a-login': [to('http://user:secret@127.0.0.1/logo.png'), 'BAD_REDIRECT'],
  '/to-a-zone': [to('http://[fe80::1%25eth0]/logo.png'), 'BAD_REDIRECT'],
};

test('downloads an image or reports why not, for each kind of response', async (t) => {
  const host = await serveHttp(t, (request, response) => {
    response.on('error', () => {});
    answers[request.url!]![0](request, response);
  });
  for (const [path, [, expected]] of Object.entries(answers)) {
    assert.equal(outcome(await get(`${host}${path}`)), expected, path);
  }
});

/** Responses that are rejected by their headers; their bodies never end. */
const heads: readonly [status: number, headers: Record<string, string>, expected: unknown[]][] = [
  [200, { 'content-length': '3000000000' }, ['TOO_LARGE', 3_000_000_000]],
  [404, {}, ['BAD_STATUS', undefined]],
  [302, {}, ['BAD_REDIRECT', undefined]],
  [200, { 'content-encoding': 'br' }, ['ENCODED', undefined]],
];

for (const [status, headers, expected] of heads) {
  test(`closes the connection after headers that mean ${expected[0]}`, async (t) => {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const host = await serveHttp(t, (_request, response) => {
      response.on('close', resolve).writeHead(status, headers).write(image);
    });
    const result = await get(host);
    assert.deepEqual('failure' in result && [result.failure.code, result.bytes], expected);
    await left;
  });
}

test('stops a download as soon as it is too large', async (t) => {
  const { promise: left, resolve } = Promise.withResolvers<void>();
  const host = await serveHttp(t, (_request, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', more).on('close', resolve);
    more();
  });
  const result = await get(host);
  assert.ok('body' in result && !result.isWhole && result.body.length < 2_100_000);
  await left;
});

test('sends only the headers that it needs', async (t) => {
  const asked: unknown[] = [];
  const host = await serveHttp(t, (request, response) => {
    asked.push([request.method, request.url, request.headers]);
    if (request.url === '/a?b=c') response.writeHead(302, { location: '/d', 'set-cookie': 'a=b' }).end();
    else response.end(image);
  });
  await get(`${host}/a?b=c#fragment`);
  const headers = {
    accept: 'image/png, image/jpeg',
    'accept-encoding': 'identity',
    'user-agent': 'partner-network-check-images',
    host: new URL(host).host,
    connection: 'close',
  };
  assert.deepEqual(asked, [
    ['GET', '/a?b=c', headers],
    ['GET', '/d', headers],
  ]);
});

/** What a server does instead of sending a complete response. */
const silences: Record<string, (socket: Socket) => void> = {
  'says nothing': () => {},
  'begins to answer': (socket) => socket.write('HTTP/1.1 200 OK\r\nX-A: '),
  'drips its headers': (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nX-A: ', 'a'),
  'drips the image': (socket) => drip(socket, 'HTTP/1.1 200 OK\r\n\r\n', 'a'),
  'sends Early Hints forever': (socket) => drip(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
};

function drip(socket: Socket, first: string, then: string): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(then), 10);
  socket.on('close', () => clearInterval(timer));
}

for (const [what, answer] of Object.entries(silences)) {
  test(`times out on a server that ${what}, and closes the connection`, async (t) => {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const host = await serveRaw(t, (socket) => {
      socket.on('close', () => resolve()).resume();
      answer(socket);
    });
    assert.equal(outcome(await get(host, 150)), 'TIMED_OUT');
    await left;
  });
}

test('the time limit includes all redirects', async (t) => {
  const host = await serveHttp(t, (_request, response) => {
    setTimeout(() => response.writeHead(302, { location: '/next' }).end(), 100);
  });
  assert.equal(outcome(await get(host, 250)), 'TIMED_OUT');
});

/** What a server sends, and the reason that is reported. */
const nonsense: Record<string, readonly [said: string, expected: RegExp]> = {
  'hangs up': ['', /the connection ended/],
  'does not speak HTTP': ['SSH-2.0-OpenSSH_9.6\r\n', /its response is not HTTP.*HPE_/],
  'sends headers without end': [`HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(10_000)}`, /headers are too long/],
  'changes the protocol': [
    'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    /the connection ended/,
  ],
  'sends less than it said': ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc', /the connection ended/],
  'sends a broken chunk': [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    /the connection ended/,
  ],
  'gives two lengths': ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nabc', /not HTTP/],
};

for (const [what, [said, expected]] of Object.entries(nonsense)) {
  test(`cannot reach an image on a server that ${what}`, async (t) => {
    const result = await get(
      await serveRaw(t, (socket) => socket.resume().once('data', () => socket.end(said))),
    );
    assert.ok('failure' in result, outcome(result));
    assert.equal(result.failure.code, 'UNREACHABLE');
    assert.match(result.failure.detail, expected);
  });
}

test('cannot reach an image where nothing listens', async () => {
  const result = await get('http://127.0.0.1:1/logo.png?token=secret');
  assert.deepEqual('failure' in result && result.failure, {
    code: 'UNREACHABLE',
    detail: 'Check that 127.0.0.1 serves the image: it refuses connections.',
  });
});

test('accepts only http and https URLs without user and password', async () => {
  for (const url of ['', '/logo.png', 'ftp://127.0.0.1/', 'file:///etc/passwd', 'http://a:b@127.0.0.1/'])
    assert.equal(outcome(await get(url)), 'INVALID_URL', url);
});

type Zone = Record<string, { readonly a?: readonly string[]; readonly aaaa?: readonly string[] }>;

const record = (type: number, data: Uint8Array) =>
  Buffer.concat([Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data]);

const ipv4 = (text: string) => Uint8Array.from(text.split('.'), Number);
const ipv6 = (text: string) => Buffer.from(text.replaceAll(':', ''), 'hex');

/** A name server for this zone. */
async function startNameServer(t: TestContext, zone: Zone): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (; query[at] !== 0; at += query[at]! + 1)
      labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    const name = labels.join('.').toLowerCase();
    const found = zone[name];
    const isFour = query.readUInt16BE(at + 1) === 1;
    const records = isFour
      ? (found?.a ?? []).map((text) => record(1, ipv4(text)))
      : (found?.aaaa ?? []).map((text) => record(28, ipv6(text)));
    const flags = found === undefined ? 0x83 : 0x80;
    const head = Buffer.of(0, 0, 0x81, flags, 0, 1, 0, records.length, 0, 0, 0, 0);
    query.copy(head, 0, 0, 2);
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

test('finds all addresses of a name, of both kinds or of one', async (t) => {
  const server = await startNameServer(t, {
    'both.test': { a: ['192.0.2.1', '10.0.0.1'], aaaa: ['2001:0db8:0000:0000:0000:0000:0000:0001'] },
    'four.test': { a: ['192.0.2.2'] },
  });
  const resolve = resolveInDns([server]);
  const both = await resolve('both.test');
  assert.deepEqual([...both].toSorted(), ['10.0.0.1', '192.0.2.1', '2001:db8::1']);
  assert.deepEqual(await resolve('four.test'), ['192.0.2.2']);
  await assert.rejects(resolve('none.test'), { code: 'ENOTFOUND' });
});

test('resolves addresses and localhost without a query', async () => {
  const resolve = resolveInDns(['127.0.0.1:1']);
  assert.deepEqual(await resolve('192.0.2.1'), ['192.0.2.1']);
  assert.deepEqual(await resolve('2001:db8::1'), ['2001:db8::1']);
  for (const name of ['localhost', 'localhost.', 'images.localhost'])
    assert.deepEqual(await resolve(name), ['127.0.0.1', '::1']);
});

test('the system resolves localhost and addresses', async () => {
  const found = await resolveBySystem('localhost');
  assert.ok(found.length > 0 && found.every((address) => ['127.0.0.1', '::1'].includes(address)));
  assert.deepEqual(await resolveBySystem('::1'), ['::1']);
});
