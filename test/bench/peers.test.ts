/** `npm run bench -- speed` measures only peers that answer the same pages. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { differenceOfPeer } from '../../checks/bench/speed/contenders/same-pages.ts';
import { listenOnAnyPort } from '../../packages/testkit/servers/free-port.ts';

const brand = { id: 'BRAND_1', name: 'Golden Bakery', metadata: { tier: 'gold' } };
const other = { id: 'BRAND_2', name: 'Harbor Roasters' };
const pages = [{ brands: [brand], cursor: 'sealed' }, { brands: [other] }];

test('compares the bytes of the first and a middle page, and names the peer that differs', async (t) => {
  /** The answers to the first and the second request. */
  let answers: object[] = [];
  const requested: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requested.push(url);
    response.end(JSON.stringify(answers.shift()));
  });
  const port = await listenOnAnyPort(t, server);
  const difference = (...theirs: object[]) => {
    requested.length = 0;
    answers = theirs;
    return differenceOfPeer('A peer', port, pages);
  };
  const first = { brands: [brand], cursor: brand.id };
  assert.equal(await difference(first, { brands: [other] }), undefined);
  assert.deepEqual(requested, ['/network/v1/brands?limit=50', '/network/v1/brands?limit=50&after=BRAND_1']);
  const { name, ...unnamed } = other;
  for (const brands of [[], [brand], [unnamed], [{ name, ...unnamed }]]) {
    const found = await difference(first, { brands });
    assert.ok(found?.startsWith(`A peer answers ${requested[1]} differently from our service: `), found);
  }
  assert.match((await difference({ brands: [brand] }))!, /limit=50 /, 'without its cursor');
});
