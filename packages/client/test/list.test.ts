import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acmeBrands, balances } from '../../testkit/fixtures/fixture.ts';
import { addBrands, idsOf, startFaultyNetwork, startNetwork } from './support/network.ts';
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

test('awaits one page, with the records as they are on the wire', async (t) => {
  const network = (await startNetwork(t)).connect();
  const page = await network.brands.list({ reference_id: 'ref one' });
  assert.deepEqual(page.brands, [acmeBrands[0]]);
  assert.equal('cursor' in page, false);
  assert.equal(await page.next(), null);
});

test('next() goes from page to page with the same parameters, until it is null', async (t) => {
  const { network, proxy } = await startFaultyNetwork(t, []);
  const first = await network.balances.list({
    customer_id: 'alice',
    type: 'CHECKING',
    grant_id: 'g-active',
    limit: 2,
  });
  assert.deepEqual(first.balances, balances.slice(0, 2));
  const second = await first.next();
  assert.deepEqual(second?.balances, balances.slice(2, 3));
  assert.equal(await second?.next(), null);
  const queries = proxy.targets.map((target) => new URLSearchParams(target.split('?')[1]));
  assert.equal(queries[1]?.get('cursor'), first.cursor);
  queries[1]?.delete('cursor');
  assert.equal(String(queries[1]), String(queries[0]));
});

test('calling next() twice on one page gives the same page twice', async (t) => {
  const page = await (await startNetwork(t)).connect().brands.list({ limit: 1 });
  const profile_image_url = 'https://network.example/assets/brand-placeholder.png';
  for (const _ of [1, 2]) {
    assert.deepEqual((await page.next())?.brands, [{ ...acmeBrands[1], profile_image_url }]);
  }
});

test('sends nothing before it is awaited, and requests the first page once', async (t) => {
  const { network, proxy } = await startFaultyNetwork(t, []);
  const params = { limit: 2 };
  const list = network.brands.list(params);
  params.limit = 1;
  list.pages();
  await new Promise(setImmediate);
  assert.equal(proxy.targets.length, 0);

  const [one, two] = await Promise.all([list, list]);
  assert.equal(one, two);
  assert.deepEqual(proxy.targets, ['/network/v1/brands?limit=2'], 'as the parameters were at the call');
  assert.deepEqual(await idsOf(list), ['b1', 'b2', 'b3']);
  assert.equal(proxy.targets.length, 2, 'the first page is not requested again');
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

test('begins at a given cursor, and omits undefined parameters', async (t) => {
  const { network, proxy } = await startFaultyNetwork(t, []);
  const { cursor } = await network.brands.list({ limit: 1, reference_id: undefined });
  assert.equal(proxy.targets[0], '/network/v1/brands?limit=1');
  assert.deepEqual(await idsOf(network.brands.list({ cursor, limit: 100 })), ['b2', 'b3']);
});

test('reads a character that arrives in two pieces', async () => {
  const bytes = new TextEncoder().encode('{"brands":[{"id":"é🦊"}]}');
  const pieces = () =>
    new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
  const network = offline({ fetch: async () => new Response(pieces()), maxRetries: 0 });
  assert.deepEqual(await idsOf(network.brands.list()), ['é🦊']);
});

test('sends no more requests when the caller stops iterating, and reuses connections', async (t) => {
  const { network, proxy, service } = await startFaultyNetwork(t, []);
  for await (const _ of network.brands.list({ limit: 1 })) break;
  assert.equal(proxy.targets.length, 1);
  proxy.targets.length = 0;
  await addBrands(service, 20);
  await idsOf(network.brands.list({ limit: 1 }));
  assert.equal(proxy.targets.length, 23);
  // Node's fetch opens a second connection if the next request is sent before the first is idle again.
  assert.ok(proxy.connections() <= 2, `${proxy.connections()} connections`);
});
