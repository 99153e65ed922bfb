/** `npm run bench` measures only peers that answer the same pages. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { peers } from '../../bench/speed/contenders/peer-processes.ts';
import { type BrandsPage, differenceOf, differenceOfPeer } from '../../bench/speed/contenders/same-pages.ts';

const brand = { id: 'BRAND_1', name: 'Golden Bakery', metadata: { tier: 'gold' } };
const other = { id: 'BRAND_2', name: 'Harbor Roasters' };
const page: BrandsPage = { brands: [brand, other], cursor: 'BRAND_2' };

test('finds a missing brand, another field, another order of fields, or another cursor', () => {
  const { name, ...unnamed } = other;
  const differences: [BrandsPage, string][] = [
    [{ brands: [brand], cursor: 'BRAND_1' }, '1 brands instead of 2'],
    [
      { ...page, brands: [brand, unnamed] },
      `as brand 2 {"id":"BRAND_2"} instead of ${JSON.stringify(other)}`,
    ],
    [
      { ...page, brands: [brand, { name, ...unnamed }] },
      `as brand 2 {"name":"${name}","id":"BRAND_2"} instead of ${JSON.stringify(other)}`,
    ],
    [{ brands: page.brands }, 'the cursor undefined instead of BRAND_2'],
  ];
  for (const [theirs, difference] of differences) assert.equal(differenceOf(page, theirs), difference);
  assert.equal(differenceOf(page, structuredClone(page)), undefined);
});

test('compares the first page and one in the middle, and names the peer that differs', async (t) => {
  const pages: BrandsPage[] = [{ brands: [brand], cursor: 'sealed' }, { brands: [other] }];
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    // Always answers with the first page.
    const isFile = url.startsWith('/brands');
    response.end(JSON.stringify(isFile ? [brand] : { brands: [brand], cursor: brand.id }));
  }).listen(0, '127.0.0.1');
  t.after(() => server.close().closeAllConnections());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const peer of peers) {
    asked.length = 0;
    const difference = await differenceOfPeer(peer, port, pages);
    assert.ok(difference?.startsWith(`${peer.name} does not answer what we do to ${asked[1]}: as brand 1 {`));
    assert.deepEqual(
      asked,
      peer.takes === 'json'
        ? ['/brands?_page=1&_limit=50', '/brands?_page=2&_limit=50']
        : ['/network/v1/brands?limit=50', '/network/v1/brands?limit=50&after=BRAND_1'],
    );
  }
});
