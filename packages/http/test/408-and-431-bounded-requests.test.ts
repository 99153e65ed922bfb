import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { startTestService } from '../../testkit/service/service.ts';

test('a request that does not arrive in time is a REQUEST_TIMEOUT, and the connection closes', async (t) => {
  const { raw, server } = await startTestService(t);
  // The real timeout is 5 s.
  server.headersTimeout = 50;
  const answer = await raw('GET /network/v1/brands HTTP/1.1\r\nHost: a\r\n');
  assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
  assert.match(answer, /\r\nConnection: close\r\n/);
  assert.equal(JSON.parse(answer.split('\r\n\r\n')[1]!).errors[0].code, 'REQUEST_TIMEOUT');
});

for (const [where, bytes] of Object.entries({
  'a header': `GET /network/v1/brands HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`,
  'the target': `GET /network/v1/brands?x=${'x'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  'many small headers': `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'x:\r\n'.repeat(4_096)}\r\n`,
})) {
  test(`over 16 KiB in ${where} is a REQUEST_TOO_LARGE`, async (t) => {
    const { raw } = await startTestService(t);
    const answer = await raw(bytes);
    assert.match(answer, /^HTTP\/1\.1 431 /);
    assert.equal(JSON.parse(answer.split('\r\n\r\n')[1]!).errors[0].code, 'REQUEST_TOO_LARGE');
  });
}

test('a head of 16 KiB is accepted, and one byte more is not', async (t) => {
  const { raw } = await startTestService(t);
  const requestOf = (bytes: number) => {
    const credentials = `Authorization: Bearer ${keys.acme}\r\nConnection: close`;
    const head = `GET /network/v1/brands HTTP/1.1\r\nHost: a\r\n${credentials}\r\nX-Filler: \r\n\r\n`;
    return head.replace('X-Filler: ', `X-Filler: ${'x'.repeat(bytes - head.length)}`);
  };
  assert.equal(requestOf(16_384).length, 16_384);
  assert.match(await raw(requestOf(16_384)), /^HTTP\/1\.1 200 /);
  assert.match(await raw(requestOf(16_385)), /^HTTP\/1\.1 431 /);
});

test('200 headers are accepted, and one more is not', async (t) => {
  const { raw } = await startTestService(t);
  const requestOf = (headers: number) => {
    const credentials = `Host: a\r\nAuthorization: Bearer ${keys.acme}\r\nConnection: close\r\n`;
    return `GET /network/v1/brands HTTP/1.1\r\n${credentials}${'X: y\r\n'.repeat(headers - 3)}\r\n`;
  };
  assert.match(await raw(requestOf(200)), /^HTTP\/1\.1 200 /);
  for (const headers of [201, 202, 2_000]) {
    const answer = await raw(requestOf(headers));
    assert.match(answer, /^HTTP\/1\.1 431 .*"REQUEST_TOO_LARGE"/s, String(headers));
  }
});
