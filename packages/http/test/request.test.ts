/**
 * Unusual bytes on a socket: the response, and whether the connection goes on. A good request follows each of
 * them on the same connection. It is answered if the connection goes on and ignored if it does not, so that
 * bytes are never parsed as another request than the client sent.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { answersIn } from '../../testkit/fixtures/http.ts';
import { startSite } from './site.ts';

const line = 'GET /network/v1/brands?limit=1 HTTP/1.1\r\n';
const host = 'Host: a\r\n';
const good = `${line}${host}`;
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
  ['two Host headers', `${line}${host}${host}\r\n`, malformed, 'closes'],
  ['no Host header', `${line}\r\n`, malformed, 'closes'],
  ['an invalid Host', `${line}Host: a b/c@d\r\n\r\n`, malformed, 'closes'],
  ['an empty Host', `${line}Host:\r\n\r\n`, '200', 'goes on'],
  ['an address for a Host', `${line}Host: [::1]:8080\r\n\r\n`, '200', 'goes on'],
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
  ['HTTP/1.0 without a Host', inHttp10(`${line}\r\n`), '200', 'closes'],
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
  const { raw } = await startSite(t);
  for (const [what, sent, answer, after] of table) {
    const received = await raw(Buffer.concat([Buffer.from(sent), Buffer.from(next)]));
    assert.deepEqual(answersIn(received), after === 'goes on' ? [answer, '200'] : [answer], what);
  }
});

test('the error of a raw byte names its parameter, and says to percent-encode it', async (t) => {
  const { raw } = await startSite(t);
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

test('a request of more than 16 KiB is a REQUEST_TOO_LARGE, wherever its bytes are', async (t) => {
  const { raw } = await startSite(t);
  for (const bytes of [
    `${good}X: ${'x'.repeat(17_000)}\r\n\r\n`,
    `${good}\r\n`.replace('limit=1', 'x'.repeat(17_000)),
    `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'x:\r\n'.repeat(4_096)}\r\n`,
  ]) {
    assert.deepEqual(answersIn(await raw(bytes)), ['431 REQUEST_TOO_LARGE']);
  }
});

test('a head of 16 KiB is accepted, and one byte more is not', async (t) => {
  const { raw } = await startSite(t);
  const requestOf = (bytes: number) =>
    next.replace('Host: a', `$&\r\nX: ${'x'.repeat(bytes - next.length - 5)}`);
  assert.equal(requestOf(16_384).length, 16_384);
  assert.deepEqual(answersIn(await raw(requestOf(16_384))), ['200']);
  assert.deepEqual(answersIn(await raw(requestOf(16_385))), ['431 REQUEST_TOO_LARGE']);
});

test('200 headers are accepted, and one more is not', async (t) => {
  const { raw } = await startSite(t);
  const requestOf = (headers: number) =>
    next.replace('\r\n\r\n', `\r\n${'X: y\r\n'.repeat(headers - 2)}\r\n`);
  assert.deepEqual(answersIn(await raw(requestOf(200))), ['200']);
  for (const headers of [201, 202, 2_000]) {
    assert.deepEqual(answersIn(await raw(requestOf(headers))), ['431 REQUEST_TOO_LARGE'], String(headers));
  }
});
