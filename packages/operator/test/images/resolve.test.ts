import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { resolveBySystem, resolveInDns } from '../../src/images/download.ts';

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
