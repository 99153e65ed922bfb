/**
 * Unusual bytes on a socket: the response, and whether the connection goes on. A good request follows each of
 * them on the same connection. It is answered if the connection goes on and ignored if it does not, so that
 * bytes are never parsed as another request than the client sent.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { answersIn } from '../../testkit/fixtures/http.ts';
import { startTestService } from '../../testkit/service/service.ts';

const key = `Authorization: Bearer ${keys.acme}\r\n`;
const line = 'GET /network/v1/brands?limit=1 HTTP/1.1\r\n';
const host = 'Host: a\r\n';
const good = `${line}${host}${key}`;
const next = `${good}Connection: close\r\n\r\n`;

type After = 'goes on' | 'closes';
type Row = readonly [what: string, sent: string | Buffer, answer: string, after: After];

const malformed = '400 MALFORMED_REQUEST';
const rawByte = '400 INVALID_CHARACTER';
const notAllowed = '405 METHOD_NOT_ALLOWED';
const chunked = 'Transfer-Encoding: chunked\r\n';
const encoded = (encoding: string) => `${good}Transfer-Encoding: ${encoding}\r\n\r\n`;
const lengths = (...values: unknown[]) => values.map((value) => `Content-Length: ${value}\r\n`).join('');
const inHttp10 = (sent: string) => sent.replace('1.1', '1.0');
const noise = 'x'.repeat(20_000);

const table: readonly Row[] = [
  ['a good request', `${good}\r\n`, '200', 'goes on'],
  ['empty lines before it', `\r\n\r\n${good}\r\n`, '200', 'goes on'],

  // The host does not matter here, but there must be exactly one, and it must be valid.
  ['two Host headers', `${line}${host}${host}${key}\r\n`, malformed, 'closes'],
  ['no Host header', `${line}${key}\r\n`, malformed, 'closes'],
  ['an invalid Host', `${line}Host: a b/c@d\r\n${key}\r\n`, malformed, 'closes'],
  ['an empty Host', `${line}Host:\r\n${key}\r\n`, '200', 'goes on'],
  ['an address for a Host', `${line}Host: [::1]:8080\r\n${key}\r\n`, '200', 'goes on'],
  [
    'a target of another host',
    `${good}\r\n`.replace('GET ', 'GET http://other.example:81'),
    '200',
    'goes on',
  ],
  ['an asterisk for a target', `OPTIONS * HTTP/1.1\r\n${host}\r\n`, '404 NOT_FOUND', 'goes on'],
  ['an invalid target', `${good}\r\n`.replace('GET ', 'GET x'), malformed, 'closes'],
  ['a space in the target', `${good}\r\n`.replace('?limit', ' ?limit'), malformed, 'closes'],
  ['a NUL in the target', `${good}\r\n`.replace('?limit', '\0'), malformed, 'closes'],

  ['a raw byte in a path', `${good}\r\n`.replace('brands', 'bränds'), malformed, 'closes'],
  ['a raw byte in a value', `${good}\r\n`.replace('limit=1', 'reference_id=ä'), rawByte, 'closes'],
  ['a raw byte in a name', `${good}\r\n`.replace('limit', 'lümit'), rawByte, 'closes'],
  ['a raw byte for another path', `${good}\r\n`.replace('brands?', 'no?ä'), '404 NOT_FOUND', 'closes'],
  ['a raw byte in a POST', `POST${good.slice(3)}\r\n`.replace('=1', '=ä'), notAllowed, 'closes'],

  ['two Authorization headers', `${good}${key}\r\n`, '401 UNAUTHORIZED', 'goes on'],
  ['a NUL in a header', `${good}X: a\0b\r\n\r\n`, malformed, 'closes'],
  ['a header on two lines', `${good}X: a\r\n b\r\n\r\n`, malformed, 'closes'],
  ['a space before a colon', `${good}X : a\r\n\r\n`, malformed, 'closes'],
  ['lines that end with LF only', `${good}\r\n`.replaceAll('\r', ''), malformed, 'closes'],
  ['one line that ends with LF only', `${good}X: a\nY: b\r\n\r\n`, malformed, 'closes'],
  ['a CR within a line', `${good}X: a\rY: b\r\n\r\n`, malformed, 'closes'],

  // The end of a body must be given in exactly one way.
  ['a length twice', `${good}${lengths(1, 1)}\r\nx`, malformed, 'closes'],
  ['two lengths', `${good}${lengths(1, 2)}\r\nx`, malformed, 'closes'],
  ['a list of lengths', `${good}${lengths('1, 1')}\r\nx`, malformed, 'closes'],
  ['a length with a sign', `${good}${lengths('+1')}\r\nx`, malformed, 'closes'],
  ['a length that is too large', `${good}${lengths('99999999999999999999')}\r\n`, malformed, 'closes'],
  ['a length and chunks', `${good}${lengths(5)}${chunked}\r\n0\r\n\r\n`, malformed, 'closes'],
  ['chunks and a length', `${good}${chunked}${lengths(5)}\r\n0\r\n\r\n`, malformed, 'closes'],
  ['chunks twice', `${good}${chunked}${chunked}\r\n0\r\n\r\n`, malformed, 'closes'],
  ['an encoding before chunks', `${encoded('gzip, chunked')}0\r\n\r\n`, malformed, 'closes'],
  ['an encoding after chunks', encoded('chunked, gzip'), malformed, 'closes'],
  ['an unknown encoding', encoded('xchunked'), malformed, 'closes'],
  ['an encoding that changes nothing', encoded('identity'), malformed, 'closes'],

  // A body of a GET has no meaning. It is read to its end.
  ['a body', `${good}${lengths(4)}\r\nbody`, '200', 'goes on'],
  ['a body that looks like a request', `${good}${lengths(next.length)}\r\n${next}`, '200', 'goes on'],
  ['a body of a megabyte', `${good}${lengths(1e6)}\r\n${'x'.repeat(1e6)}`, '200', 'goes on'],
  ['a body in chunks', `${encoded('Chunked')}2\r\nhi\r\n0\r\n\r\n`, '200', 'goes on'],
  ['invalid chunks', `${encoded('chunked')}ZZZ\r\n\r\n`, '200', 'closes'],
  ['a chunk extension without end', `${encoded('chunked')}1;${noise}`, '200', 'closes'],
  ['a trailer without end', `${encoded('chunked')}0\r\nX: ${noise}`, '200', 'closes'],
  // The client need not send it: the response closes the connection.
  ['an announced body', `${good}${lengths(4)}Expect: 100-continue\r\n\r\n`, '200', 'closes'],
  ['an unknown expectation', `${good}Expect: tea\r\n\r\n`, '200', 'goes on'],

  ['HTTP/0.9', 'GET /network/v1/brands\r\n\r\n', malformed, 'closes'],
  ['HTTP/1.0', inHttp10(`${good}\r\n`), '200', 'closes'],
  ['HTTP/1.0 without a Host', inHttp10(`${line}${key}\r\n`), '200', 'closes'],
  ['HTTP/1.0 that goes on', inHttp10(`${good}Connection: keep-alive\r\n\r\n`), '200', 'goes on'],
  ['HTTP/1.0 in chunks, which it lacks', inHttp10(`${encoded('chunked')}0\r\n\r\n`), malformed, 'closes'],
  [
    'HTTP/1.0 in chunks that wants to go on',
    inHttp10(`${good}Connection: keep-alive\r\n${chunked}\r\n0\r\n\r\n`),
    malformed,
    'closes',
  ],
  ['HTTP/2.0 on a line', `${good}\r\n`.replace('1.1', '2.0'), malformed, 'closes'],
  ['an unknown version', `${good}\r\n`.replace('1.1', '3.7'), malformed, 'closes'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', malformed, 'closes'],
  ['the hello of TLS', Buffer.from(`16030100a5010000a10303${'00'.repeat(150)}`, 'hex'), malformed, 'closes'],
  ['no HTTP at all', 'hello\r\n\r\n', malformed, 'closes'],
  ['an invalid method', `${good}\r\n`.replace('GET', 'G<T'), malformed, 'closes'],
  ['an offer to upgrade', `${good}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`, '200', 'closes'],
  ['an upgrade to nothing', `${good}Connection: Upgrade\r\n\r\n`, '200', 'goes on'],
];

test('every unusual sequence of bytes gets exactly its response', async (t) => {
  const { raw } = await startTestService(t);
  for (const [what, sent, answer, after] of table) {
    const received = await raw(Buffer.concat([Buffer.from(sent), Buffer.from(next)]));
    assert.deepEqual(answersIn(received), after === 'goes on' ? [answer, '200'] : [answer], what);
  }
});

test('the error of a raw byte names its parameter, and says to percent-encode it', async (t) => {
  const { raw } = await startTestService(t);
  const rows = [
    ['limit=1&refe%72ence_id=a=ä&cursor=ö', 'reference_id', 'reference_id'],
    ['lümit=1', 'lümit', 'lümit'],
    ['\xff=1', '\ufffd', '\ufffd'],
    ['=ä', undefined, 'the query'],
    [`${keys.acme}=ä`, '[key]', '[key]'],
  ] as const;
  for (const [query, field, named] of rows) {
    const bytes = Buffer.from(
      `${good}\r\n`.replace('limit=1', query),
      query.startsWith('\xff') ? 'latin1' : 'utf8',
    );
    const [error] = JSON.parse((await raw(bytes)).split('\r\n\r\n')[1]!).errors;
    const detail = `Send ${named} as percent-encoded UTF-8 without control characters.`;
    assert.deepEqual([error.code, error.field, error.detail], ['INVALID_CHARACTER', field, detail]);
  }
});

test('a body that never ends is cut off at the request timeout, after its one response', async (t) => {
  const { port, server } = await startTestService(t);
  // The real timeouts are 5 and 10 s.
  server.requestTimeout = server.headersTimeout = 100;
  async function send(framing: string, part: string): Promise<string[]> {
    const socket = connect(port, '127.0.0.1');
    const received = text(socket);
    socket.write(`${good}${framing}\r\n\r\n`);
    const sending = setInterval(() => socket.write(part), 5);
    t.after(() => clearInterval(sending));
    socket.once('end', () => clearInterval(sending));
    await once(socket, 'close');
    return answersIn(await received);
  }
  const answers = await Promise.all([
    send('Transfer-Encoding: chunked', '5\r\nhello\r\n'),
    send('Content-Length: 1000000000', 'hello'),
  ]);
  assert.deepEqual(answers, [['200'], ['200']]);
});

test('what follows a last response is dropped, up to 64 MiB and the request timeout', async (t) => {
  const { port, server } = await startTestService(t);
  /** Sends a body after its response. Resolves to the bytes until the connection is closed, or to `most`. */
  async function send(part: string, most: number): Promise<number> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    t.after(() => socket.destroy());
    let hasFailed = false;
    socket.on('error', () => {
      hasFailed = true;
    });
    socket.write(`${good}Connection: close\r\nContent-Length: 1000000000\r\n\r\n`);
    await once(socket.resume(), 'end');
    let bytes = 0;
    for (; bytes < most && !hasFailed; bytes += part.length) {
      await new Promise((resolve) => socket.write(part, resolve));
      await nextTurn();
    }
    return bytes;
  }
  const mebibyte = 1024 * 1024;
  // The real timeouts are 5 and 10 s.
  server.requestTimeout = server.headersTimeout = 0;
  const bytes = await send('x'.repeat(mebibyte), 128 * mebibyte);
  assert.ok(bytes >= 64 * mebibyte && bytes < 128 * mebibyte, `${bytes} bytes`);
  server.requestTimeout = server.headersTimeout = 100;
  assert.ok((await send('x', mebibyte)) < mebibyte);
});

test('malformed bytes get one response and one log line, however many follow', async (t) => {
  for (const [malformed, answers] of [
    ['ZZZ\r\n\r\n', ['200']],
    ['0\r\n\r\nhello\r\n\r\n', ['200', '400 MALFORMED_REQUEST']],
  ] as const) {
    const gate = Promise.withResolvers<void>();
    const { raw, server, lines } = await startTestService(t, {
      reads: async ({ store }) => ({
        ...store,
        listBrands: (query) => gate.promise.then(() => store.listBrands(query)),
      }),
    });
    let errors = 0;
    server.on('clientError', () => {
      errors += 1;
      if (errors === 3) gate.resolve();
    });
    const received = await raw(encoded('chunked') + malformed + noise.repeat(60));
    assert.deepEqual(answersIn(received), answers);
    assert.equal(lines().filter(({ msg }) => msg === 'request').length, answers.length);
  }
});

test('each response has a new request id that begins with the time, whatever the client sends', async (t) => {
  const { brands } = await startTestService(t);
  const ids = new Set<string>();
  const startedMs = Date.now();
  for (const mine of ['mine', 'mine']) {
    const { headers } = await brands('', { key: keys.acme, headers: { 'X-Request-Id': mine } });
    ids.add(String(headers['x-request-id']));
  }
  assert.equal(ids.size, 2);
  for (const id of ids) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const atMs = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
    assert.ok(atMs >= startedMs && atMs <= Date.now());
  }
});
