import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acmeBrands, balances } from '../../testkit/fixtures/fixture.ts';
import { addBrands, idsOf, startNetwork } from './support/network.ts';
import { offline } from './support/offline.ts';

test('iterates over every record of every page, in order, once', async (t) => {
  const { connect, service } = await startNetwork(t);
  await addBrands(service, 120);
  const network = connect();
  const ids = await idsOf(network.brands.list());
  assert.deepEqual(ids, [...acmeBrands.map(({ id }) => id), ...ids.filter((id) => id.startsWith('c'))]);
  assert.equal(ids.length, 123);
  assert.deepEqual(ids, [...ids].sort());
  assert.deepEqual(await idsOf(network.brands.list({ reference_id: 'shared', limit: 1 })), ['b2', 'b3']);
});

test('next() goes from page to page until it is null, and gives the same page twice', async (t) => {
  const network = (await startNetwork(t)).connect();
  const alice = { customer_id: 'alice', type: 'CHECKING', grant_id: undefined } as const;
  const first = await network.balances.list({ ...alice, limit: 2 });
  assert.deepEqual(first.balances, balances.slice(0, 2));
  for (const _ of [1, 2]) {
    const second = await first.next();
    assert.deepEqual(second?.balances, balances.slice(2, 3));
    assert.equal('cursor' in second, false);
    assert.equal(await second.next(), null);
  }
});

test('sends nothing before it is awaited, and requests the first page once', async () => {
  const urls: string[] = [];
  const network = offline({ onRequest: ({ url }) => void urls.push(url) });
  const params = { limit: 2, reference_id: undefined };
  const list = network.brands.list(params);
  params.limit = 1;
  list.pages();
  await new Promise(setImmediate);
  assert.deepEqual(urls, []);

  const [one, two] = await Promise.all([list, list]);
  assert.equal(one, two);
  assert.deepEqual(await idsOf(list), ['one']);
  assert.deepEqual(urls, ['https://network.example/network/v1/brands?limit=2'], 'as at the time of the call');
});

test('works like a promise: then, catch and finally', async (t) => {
  const { connect } = await startNetwork(t);
  const list = connect().brands.list({ limit: 1 });
  const ends: string[] = [];
  const page = await list.catch(() => assert.fail('it did not fail')).finally(() => void ends.push('page'));
  assert.equal(await list.finally(() => void ends.push('the same')), page);
  assert.equal(await list.then(({ brands }) => brands[0]?.id), 'b1');

  const refused = connect().brands.list({ limit: 0 });
  assert.equal(await refused.catch(({ code }) => code), 'VALUE_TOO_LOW');
  const ended = refused.finally(() => void ends.push('refused'));
  await assert.rejects(ended, { code: 'VALUE_TOO_LOW' });
  assert.deepEqual(ends, ['page', 'the same', 'refused']);
  assert.equal(String(refused), '[object PageList]');
});

test('reads a character that arrives in two pieces', async () => {
  const bytes = new TextEncoder().encode('{"brands":[{"id":"é🦊"}]}');
  const pieces = () => ReadableStream.from(bytes.values().map((byte) => Uint8Array.of(byte)));
  const network = offline({ fetch: async () => new Response(pieces()), maxRetries: 0 });
  assert.deepEqual(await idsOf(network.brands.list()), ['é🦊']);
});

test('sends no more requests when the caller stops iterating, and reuses connections', async (t) => {
  const { connect, service } = await startNetwork(t);
  let requests = 0;
  let connections = 0;
  service.server.on('connection', () => {
    connections += 1;
  });
  const network = connect({
    onRequest: () => {
      requests += 1;
    },
  });
  for await (const _ of network.brands.list({ limit: 1 })) break;
  assert.equal(requests, 1);
  await addBrands(service, 20);
  await idsOf(network.brands.list({ limit: 1 }));
  assert.equal(requests, 1 + 23);
  // Node's fetch opens a second connection if the next request is sent before the first is idle again.
  assert.ok(connections <= 2, `${connections} connections`);
});
