/** Reads of bodies: their time and their memory. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { freePieces, readBody } from '../src/body.ts';
import type { Exchange } from '../src/handle.ts';
import type { Refusal } from '../src/refusal.ts';

test('a body that does not arrive in time is a REQUEST_TIMEOUT, however slowly it is sent', async (t) => {
  const refused = Promise.withResolvers<Refusal>();
  const tooLarge = () => assert.fail('the body is small');
  const server = createServer((request) => {
    const exchange = { request, rawHeaders: request.rawHeaders } as unknown as Exchange;
    readBody(exchange, { bytes: 1_000, ms: 300, tooLarge }).then(() => refused.reject(), refused.resolve);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
  const drip = setInterval(() => socket.write('x'), 20);
  t.after(() => clearInterval(drip));
  assert.deepEqual(
    (await refused.promise).errors.map(({ code }) => code),
    ['REQUEST_TIMEOUT'],
  );
});

test('the memory of a body is freed, and never memory that it shares', () => {
  const own = Buffer.alloc(100);
  const shared = Buffer.from('shared');
  const pieces = [own, shared, shared.subarray(1)];
  freePieces(pieces);
  freePieces(pieces);
  assert.deepEqual([own.length, shared.toString()], [0, 'shared']);
});
