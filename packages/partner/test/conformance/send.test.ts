/** How requests of the conformance cases are sent, and what a broken or hostile deployment cannot do. */
import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import { selfSigned } from '../../../operator/test/images/certificate.ts';
import { serveHttp, serveRaw } from '../../../operator/test/images/image-host.ts';
import { freePort, listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { createSender, sendBounds, Untestable } from '../../src/conformance/send.ts';

const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
const unpaced = { ...sendBounds, paceMs: 0 };

function senderTo(address: string, bounds = unpaced) {
  return createSender(new URL(address), bounds);
}

/** The most times in any second. */
function mostInOneSecond(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));
}

test('a server sees at most 40 requests in any second, also from cases that send at once', async (t) => {
  const arrivals: number[] = [];
  const address = await serveHttp(t, (_request, response) => {
    arrivals.push(performance.now());
    response.end('{}');
  });
  const { send } = senderTo(address, sendBounds);
  await Promise.all(Array.from({ length: 60 }, () => send(request, '/')));
  assert.equal(arrivals.length, 60);
  assert.ok(40 * sendBounds.paceMs > 1_000);
  assert.ok(mostInOneSecond(arrivals) <= 40, `${mostInOneSecond(arrivals)} in one second`);
});

test('a burst opens all its connections first, and the pace resumes after it', async (t) => {
  const waiting: (() => void)[] = [];
  const address = await serveHttp(t, (_request, response) => {
    waiting.push(() => response.end('{}'));
    if (waiting.length >= 120) for (const answer of waiting) answer();
  });
  const { send, burst } = senderTo(address, sendBounds);
  const answers = await burst(120, request, '/');
  assert.equal(answers.filter(({ status }) => status === 200).length, 120);
  assert.ok(answers.every(({ sentMs, answeredMs }) => sentMs < answeredMs));
  const beforeMs = performance.now();
  const [, , third] = await Promise.all([1, 2, 3].map(() => send(request, '/')));
  assert.ok(third!.sentMs - beforeMs >= 2 * sendBounds.paceMs - 2);
});

test('a run sends at most 999 requests, and bursts count', async (t) => {
  let requests = 0;
  const address = await serveHttp(t, (_request, response) => {
    requests += 1;
    response.end('{}');
  });
  assert.equal(sendBounds.requests, 999);
  const { send, burst } = senderTo(address, { ...unpaced, requests: 20 });
  for (let count = 0; count < 10; count += 1) await send(request, '/');
  await burst(10, request, '/');
  const exhausted = (error: unknown) => error instanceof Untestable && error.cause === undefined;
  await assert.rejects(send(request, '/'), exhausted);
  assert.equal(requests, 20);
});

test('a run ends when all answers together are too large or take too long', async (t) => {
  const address = await serveHttp(t, (_request, response) => response.end('x'.repeat(600)));
  const large = senderTo(address, { ...unpaced, allBytes: 1_000 });
  await large.send(request, '/');
  await large.send(request, '/');
  await assert.rejects(large.send(request, '/'), Untestable);
  await assert.rejects(senderTo(address, { ...unpaced, runMs: -1 }).send(request, '/'), Untestable);
});

test('a request is sent again after a 429 or 503, no earlier than asked, three times at most', async (t) => {
  const arrivals: number[] = [];
  const waits = [
    { 'retry-after': '9', 'retry-after-ms': '60' },
    { 'retry-after': '0.05' },
    { 'retry-after': '0' },
  ];
  const address = await serveHttp(t, (_request, response) => {
    const wait = waits[arrivals.push(performance.now()) - 1];
    response.writeHead(wait === waits[0] ? 429 : 503, wait).end('{}');
  });
  const { send } = senderTo(address);
  assert.equal((await send(request, '/')).status, 503);
  assert.equal(arrivals.length, 4);
  const gaps = arrivals.slice(1).map((at, index) => at - arrivals[index]!);
  assert.ok(gaps[0]! >= 58 && gaps[0]! < 1_000 && gaps[1]! >= 48, gaps.join());
});

test('a wait that is too long is not waited', async (t) => {
  const address = await serveHttp(t, (_request, response) =>
    response.writeHead(503, { 'retry-after': '3600' }).end('{}'),
  );
  assert.equal((await senderTo(address).send(request, '/')).status, 503);
});

test('a redirect is an answer: nothing is sent to its target', async (t) => {
  let isFollowed = false;
  const other = await serveHttp(t, () => {
    isFollowed = true;
  });
  const address = await serveHttp(t, (_request, response) =>
    response.writeHead(307, { location: other }).end(),
  );
  const answer = await senderTo(address).send(request, '/');
  assert.deepEqual([answer.status, answer.header('LOCATION'), isFollowed], [307, other, false]);
});

const head = 'HTTP/1.1 200 OK\r\n';

/** What a server does with a connection, and the failure of the answer. */
const hostile: Readonly<Record<string, readonly [failure: string, (socket: Socket) => void]>> = {
  'closes at once': ['ECONNRESET', (socket) => socket.destroy()],
  'never answers': ['TIMEOUT', () => {}],
  'breaks off its body': ['ECONNRESET', (socket) => socket.end(`${head}Content-Length: 9\r\n\r\n{`)],
  'sends one byte at a time': [
    'TIMEOUT',
    (socket) => repeat(socket, `${head}Content-Length: 9999\r\n\r\n`, ' ', 5),
  ],
  'sends a body without end': [
    'BODY_TOO_LONG',
    (socket) => repeat(socket, `${head}\r\n`, ' '.repeat(65_536)),
  ],
  'sends headers without end': [
    'HPE_HEADER_OVERFLOW',
    (socket) => repeat(socket, head, `X-A: ${'a'.repeat(9_999)}\r\n`),
  ],
  'changes the protocol': [
    'ECONNRESET',
    (socket) => socket.write('HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
  ],
  'does not speak HTTP': ['HPE_INVALID_CONSTANT', (socket) => socket.write('220 mail ready\r\n')],
};

function repeat(socket: Socket, first: string, text: string, everyMs = 0): void {
  socket.write(first);
  const timer = setInterval(() => socket.writableNeedDrain || socket.write(text), everyMs);
  socket.on('close', () => clearInterval(timer));
}

for (const [name, [failure, behave]] of Object.entries(hostile)) {
  test(`a server that ${name} is a failure of the answer, and not of the run`, async (t) => {
    const address = await serveRaw(t, (socket) => socket.once('data', () => behave(socket)));
    const isSlow = failure === 'TIMEOUT';
    const bounds = { ...unpaced, answerMs: isSlow ? 100 : 5_000, bodyBytes: 1_000_000 };
    const { send, burst } = senderTo(address, bounds);
    const answers = [await send(request, '/'), ...(await burst(2, request, '/'))];
    for (const answer of answers) assert.deepEqual([answer.status, answer.failure], [0, failure]);
  });
}

test('a port without a server is a failure of every answer', async () => {
  const { send, burst } = senderTo(`http://127.0.0.1:${await freePort()}`);
  const answers = [await send(request, '/'), ...(await burst(2, request, '/'))];
  for (const { failure } of answers) assert.equal(failure, 'ECONNREFUSED');
});

test('after five requests without an answer the deployment is unreachable', async (t) => {
  const address = await serveRaw(t, (socket) => socket.destroy());
  const { send } = senderTo(address);
  for (let count = 0; count < 4; count += 1) assert.equal((await send(request, '/')).status, 0);
  assert.equal((await send('raw')).status, 0, 'raw requests do not count');
  await assert.rejects(send(request, '/'), (error: Untestable) => error.cause?.failure === 'ECONNRESET');
});

test('raw bytes arrive unchanged, and an answer in chunks or to HEAD is read', async (t) => {
  const received: string[] = [];
  const address = await serveRaw(t, (socket) =>
    socket.once('data', (bytes) => {
      received.push(bytes.toString('latin1'));
      const isHead = received.length === 2;
      const answer = isHead
        ? 'Content-Length: 7\r\n\r\n'
        : 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';
      socket.write(`${head}A: 1\r\na: 2\r\n${answer}`);
    }),
  );
  const { send } = senderTo(address);
  const texts = ['G\u0000T / \u00ff HTTP/9\n\n', 'HEAD / HTTP/1.1\r\n\r\n'];
  const first = await send(texts[0]!);
  assert.deepEqual([first.sent, first.status, first.json, first.header('a')], [texts[0], 200, {}, '1, 2']);
  const answer = await send(texts[1]!);
  assert.deepEqual([answer.status, answer.text, answer.json], [200, '', undefined]);
  assert.deepEqual(received, texts);
});

test('a body that is not UTF-8, has a byte order mark or 60,000 records is not JSON', async (t) => {
  const bodies = [
    Buffer.from([0x22, 0xff, 0x22]),
    Buffer.from('\ufeff{}'),
    Buffer.from('{} {}'),
    Buffer.from(`[${'{},'.repeat(60_000)}{}]`),
    Buffer.from('{}'),
  ];
  const address = await serveHttp(t, (_request, response) => response.end(bodies.shift()));
  const { send } = senderTo(address);
  for (const expected of [undefined, undefined, undefined, undefined, {}])
    assert.deepEqual((await send(request, '/')).json, expected);
});

test('TLS is used for requests and bursts, and only with a trusted certificate', async (t) => {
  const certificate = selfSigned('localhost');
  const server = createServer(certificate, (_request, response) => response.end('{}'));
  const address = `https://localhost:${await listenOnAnyPort(t, server)}`;
  const all = async () => {
    const { send, burst } = senderTo(address);
    return [await send(request, '/'), ...(await burst(2, request, '/'))];
  };
  for (const { failure } of await all()) assert.equal(failure, 'DEPTH_ZERO_SELF_SIGNED_CERT');
  setDefaultCACertificates([certificate.cert]);
  for (const { failure, status } of await all()) assert.deepEqual([failure, status], [undefined, 200]);
});
