import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../support/fixture.ts';
import { answersIn } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

const authorized = `Authorization: Bearer ${keys.acme}\r\nConnection: close\r\n`;

const malformed = {
  'two Host headers': `GET /network/v1/brands HTTP/1.1\r\nHost: a\r\nHost: a\r\n${authorized}\r\n`,
  'no Host header in HTTP/1.1': `GET /network/v1/brands HTTP/1.1\r\n${authorized}\r\n`,
  'no HTTP at all': 'hello\r\n\r\n',
  'a method that is no word': 'G<T /network/v1/brands HTTP/1.1\r\nHost: a\r\n\r\n',
  'a version that this is not': `GET /network/v1/brands HTTP/2.0\r\nHost: a\r\n${authorized}\r\n`,
  'a space in the target': 'GET /network/v1/brands ?x HTTP/1.1\r\nHost: a\r\n\r\n',
  'a NUL in a header': 'GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n',
  'two lengths': 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
  'a length and chunks':
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'another protocol version': 'GET / HTTP/3.7\r\nHost: a\r\n\r\n',
};

for (const [what, bytes] of Object.entries(malformed)) {
  test(`answers MALFORMED_REQUEST to ${what}`, async (t) => {
    const { raw } = await startTestService(t);
    assert.deepEqual(answersIn(await raw(bytes)), ['400 MALFORMED_REQUEST']);
  });
}

const unusual = {
  'an absolute-form target': `GET http://other.example/network/v1/brands HTTP/1.1\r\nHost: a\r\n${authorized}\r\n`,
  'HTTP/1.0 without a Host': `GET /network/v1/brands HTTP/1.0\r\n${authorized}\r\n`,
  'a body on GET': `GET /network/v1/brands HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n${authorized}\r\nbody`,
  'a chunked body on GET': `GET /network/v1/brands HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n${authorized}\r\n2\r\nhi\r\n0\r\n\r\n`,
  'an expectation it does not know': `GET /network/v1/brands HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n${authorized}\r\n`,
  'an offer to upgrade': `GET /network/v1/brands HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: close, Upgrade\r\nAuthorization: Bearer ${keys.acme}\r\n\r\n`,
};

for (const [what, bytes] of Object.entries(unusual)) {
  test(`answers ${what} like every other request`, async (t) => {
    const { raw } = await startTestService(t);
    assert.deepEqual(answersIn(await raw(bytes)), ['200']);
  });
}

test('gives its own request id, whatever the caller sends', async (t) => {
  const { brands } = await startTestService(t);
  const ids = new Set<unknown>();
  for (const mine of ['mine', 'mine']) {
    const { headers } = await brands('', { key: keys.acme, headers: { 'X-Request-Id': mine } });
    ids.add(headers['x-request-id']);
  }
  assert.equal(ids.size, 2);
  assert.equal(ids.has('mine'), false);
});
