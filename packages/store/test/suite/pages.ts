import assert from 'node:assert/strict';
import fc from 'fast-check';
import { byTest, createdAt, future, past } from '../../../testkit/fixtures/fixture.ts';
import type { BalancesQuery, Grant, Page, Store } from '../../src/port.ts';
import { publicAddressMark } from '../../src/port.ts';
import {
  balances,
  brandRow,
  brands,
  byBytes,
  createPartners,
  openWith,
  plainBalance,
  plainBrand,
  type StoreTests,
  texts,
  times,
  writeBrands,
  writeRows,
} from './records.ts';

const noBrands: Page = { records: '', bytes: 0, next: undefined };

function idsOf({ records }: Page): string[] {
  return JSON.parse(`[${records.replaceAll(publicAddressMark, '')}]`).map(({ id }: { id: string }) => id);
}

async function brandsPage(store: Store, limit: number, after = '', referenceId?: string): Promise<Page> {
  const query = { partnerId: 'acme', referenceId, after, limit };
  const { walPosition: _walPosition, ...page } = await store.listBrands(query);
  return page;
}

/** Follows `next` to the end. A page with a `next` must be full. */
async function walk(list: (after: string) => Promise<Page>, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: Page = await list(after);
    ids.push(...idsOf(page));
    if (page.next !== undefined) {
      assert.equal(idsOf(page).length, limit);
      assert.equal(page.next, ids.at(-1));
    }
    after = page.next;
  }
  return ids;
}

const sortedIds = ['!', '0', '10', '9', ...'AZ_a', 'aa', 'e\u0301', ...'\u00e9\ue000\ufffd🦊\u{10ffff}'];

const everything = fc.uniqueArray(texts(1, 4), { minLength: 1, maxLength: 12 });

/** Grants of alice, and their status at `at`. */
const at = '2026-06-01T12:00:00.000Z';
const justAfter = '2026-06-01T12:00:00.001Z';
const standings = [
  [{ id: 'active' }, 'ACTIVE'],
  [{ id: 'active-for-a-millisecond', expires_at: justAfter }, 'ACTIVE'],
  [{ id: 'expires-this-instant', expires_at: at }, 'EXPIRED'],
  [{ id: 'expired', expires_at: past }, 'EXPIRED'],
  [{ id: 'expired-by-status', status: 'EXPIRED', expires_at: future }, 'EXPIRED'],
  [{ id: 'revoked', status: 'REVOKED' }, 'REVOKED'],
  [{ id: 'revoked-and-expired', status: 'REVOKED', expires_at: past }, 'REVOKED'],
  [{ id: 'consumed', status: 'CONSUMED' }, 'CONSUMED'],
  [{ id: 'consumed-and-expired', status: 'CONSUMED', expires_at: past }, 'CONSUMED'],
] as const;

function grantOf(customer_id: string, more: Partial<Grant> & { id: string }, partner_id = 'acme'): Grant {
  return { partner_id, customer_id, action: 'CHECKING_BALANCE', status: 'ACTIVE', ...times, ...more };
}

function balancesQuery(customerId: string, more: Partial<BalancesQuery> = {}): BalancesQuery {
  const whole = { after: '', limit: 100, type: 'CHECKING', grantId: undefined, at };
  return { partnerId: 'acme', customerId, ...whole, ...more };
}

export const pageTests: StoreTests = {
  'lists brands in the byte order of their ids': async (open) => {
    const store = await openWith(open, 'acme');
    await writeBrands(store, sortedIds.toReversed());
    assert.deepEqual(idsOf(await brandsPage(store, 100)), sortedIds);
  },

  'has a next page only when there are more records': async (open) => {
    const store = await open();
    assert.deepEqual(await brandsPage(store, 10), noBrands);
    await createPartners(store, 'acme');
    assert.deepEqual(await brandsPage(store, 10, '', 'ref'), noBrands);
    await writeBrands(store, ['a', 'b', 'c']);
    assert.equal((await brandsPage(store, 2)).next, 'b');
    assert.equal((await brandsPage(store, 3)).next, undefined);
    assert.equal((await brandsPage(store, 4)).next, undefined);
    assert.equal((await brandsPage(store, 1, 'b')).next, undefined);
    assert.deepEqual(await brandsPage(store, 1, 'c'), noBrands);
  },

  'continues from an id that does not exist': async (open) => {
    const store = await openWith(open, 'acme');
    await writeBrands(store, ['a', 'c']);
    assert.deepEqual(idsOf(await brandsPage(store, 10, 'b')), ['c']);
    assert.deepEqual(idsOf(await brandsPage(store, 10, 'a\u{10ffff}')), ['c']);
  },

  'continues after the last record, whatever its text': async (open) => {
    const store = await openWith(open, 'acme');
    const hostile = '},{"id":"z","x":"\\';
    const ids = ['"', '\\"', hostile, `${hostile}"`, 'é:"}'].toSorted(byBytes);
    const metadata = { id: hostile, [hostile]: '},{"id":"' };
    await writeBrands(store, ids, { name: hostile, reference_id: hostile, metadata });
    for (const limit of [1, 2, 4]) {
      assert.deepEqual(await walk((after) => brandsPage(store, limit, after), limit), ids);
      assert.deepEqual(await walk((after) => brandsPage(store, limit, after, hostile), limit), ids);
    }
  },

  'returns each brand exactly once, whatever its id and the page size': async (open) => {
    const store = await open();
    let count = 0;
    const property = fc.asyncProperty(everything, fc.integer({ min: 1, max: 5 }), async (ids, limit) => {
      const partnerId = `p${++count}`;
      await createPartners(store, partnerId);
      const rows = ids.map((id) => brandRow(partnerId, plainBrand(id)));
      await writeRows(store, 'brands', rows);
      const list = (after: string) => store.listBrands({ partnerId, referenceId: undefined, after, limit });
      assert.deepEqual(await walk(list, limit), ids.toSorted(byBytes));
    });
    await fc.assert(property, { numRuns: 60 });
  },

  'lists only brands with exactly this reference_id, page by page': async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    await writeBrands(store, ['a', 'c', 'e'], { reference_id: 'ref \u00e9' });
    await writeBrands(store, ['b', 'd', 'f'], { reference_id: 'ref e\u0301' });
    const others = ['REF \u00e9', 'ref \u00e9 ', 'ref', 'ref _', '%'];
    for (const [index, reference_id] of others.entries()) {
      await writeBrands(store, [`x${index}`], { reference_id });
    }
    const ofZenith = plainBrand('a', { reference_id: 'ref \u00e9', name: 'Of Zenith' });
    await writeRows(store, 'brands', [brandRow('zenith', ofZenith)]);

    const page = (limit: number, after = '') => brandsPage(store, limit, after, 'ref \u00e9');
    assert.deepEqual(await walk((after) => page(1, after), 1), ['a', 'c', 'e']);
    assert.equal((await page(2)).next, 'c');
    assert.equal((await page(3)).next, undefined);
    assert.doesNotMatch((await page(3)).records, /Zenith/);
  },

  "lists a partner's own brands only": async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    await writeRows(store, 'brands', [
      brandRow('zenith', plainBrand('a', { name: 'Of Zenith' })),
      brandRow('acme', plainBrand('a', { name: 'Of Acme' })),
      brandRow('zenith', plainBrand('b')),
    ]);
    const page = await brandsPage(store, 1);
    assert.match(page.records, /"name":"Of Acme"/);
    assert.equal(page.next, undefined);
  },

  'renders a brand byte for byte as JSON.stringify does': async (open) => {
    const store = await open();
    const placeholder = 'https://network.example/assets/brand-placeholder.png';
    let count = 0;
    const property = fc.asyncProperty(brands, async (brand) => {
      const partnerId = `p${++count}`;
      await createPartners(store, partnerId);
      await writeRows(store, 'brands', [brandRow(partnerId, brand)]);
      const query = { partnerId, referenceId: brand.reference_id, after: '', limit: 1 };
      const page = await store.listBrands(query);
      const { metadata, profile_image_url = placeholder, ...rest } = brand;
      const sent = page.records.replaceAll(publicAddressMark, 'https://network.example');
      assert.equal(sent, JSON.stringify({ ...rest, profile_image_url, metadata }));
      assert.equal(page.bytes, Buffer.byteLength(page.records));
    });
    await fc.assert(property, { numRuns: 80 });
  },

  'renders a balance byte for byte as JSON.stringify does': async (open) => {
    const store = await openWith(open, 'acme');
    let count = 0;
    const property = fc.asyncProperty(balances, async (balance) => {
      const customer_id = `${++count}-${balance.customer_id}`;
      await writeRows(store, 'balances', [{ ...balance, customer_id }]);
      await store.createGrant(grantOf(customer_id, { id: 'g' }), byTest);
      const answer = await store.listBalances(balancesQuery(customer_id));
      const records = JSON.stringify({ ...balance, customer_id });
      const page = { records, bytes: Buffer.byteLength(records), next: undefined };
      assert.deepEqual(answer, { grant: 'ACTIVE', grantId: 'g', page });
    });
    await fc.assert(property, { numRuns: 40 });
  },

  "returns each of a customer's own balances exactly once, in byte order": async (open) => {
    const store = await openWith(open, 'acme');
    await store.createGrant(grantOf('alice', { id: 'g' }), byTest);
    const rows = sortedIds.toReversed().map((id) => plainBalance('alice', id));
    await writeRows(store, 'balances', [...rows, plainBalance('zoe', 'zoe-1'), plainBalance('ali', 'ali-1')]);
    for (const limit of [1, 2, 5, sortedIds.length]) {
      const list = async (after: string) => {
        const answer = await store.listBalances(balancesQuery('alice', { limit, after }));
        return 'page' in answer ? answer.page : assert.fail(answer.grant);
      };
      assert.deepEqual(await walk(list, limit), sortedIds);
    }
  },

  'lists balances only under a named grant that is active at that instant': async (open) => {
    const store = await openWith(open, 'acme');
    await writeRows(store, 'balances', [plainBalance('alice', 'b')]);
    const grants = standings.map(([grant]) => grantOf('alice', grant));
    await writeRows(store, 'grants', grants);
    for (const [{ id }, standing] of standings) {
      const answer = await store.listBalances(balancesQuery('alice', { grantId: id }));
      if (answer.grant === 'ACTIVE') {
        assert.deepEqual([standing, answer.grantId, idsOf(answer.page).length], ['ACTIVE', id, 1]);
      } else assert.deepEqual(answer, { grant: standing }, id);
    }
  },

  'finds no grant of another partner, customer or id': async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    await writeRows(store, 'balances', [plainBalance('alice', 'b'), plainBalance('zoe', 'b')]);
    await writeRows(store, 'grants', [
      grantOf('alice', { id: 'zenith-alice' }, 'zenith'),
      grantOf('zoe', { id: 'acme-zoe' }),
    ]);
    for (const grantId of [undefined, 'zenith-alice', 'acme-zoe', 'ACME-ZOE', 'nothing', '']) {
      const answer = await store.listBalances(balancesQuery('alice', { grantId }));
      assert.deepEqual(answer, { grant: 'NOT_FOUND' }, grantId);
    }
  },

  'uses any active grant if the request names none': async (open) => {
    const store = await openWith(open, 'acme');
    for (const [grant, standing] of standings) {
      await writeRows(store, 'grants', [grantOf(grant.id, grant)]);
      const answer = await store.listBalances(balancesQuery(grant.id));
      const page = { records: '', bytes: 0, next: undefined };
      const opened = { grant: 'ACTIVE', grantId: grant.id, page };
      const expected = standing === 'ACTIVE' ? opened : { grant: 'NOT_FOUND' };
      assert.deepEqual(answer, expected, grant.id);
    }
    const grants = standings.map(([grant]) => grantOf('everyone', grant));
    await writeRows(store, 'grants', grants);
    assert.equal((await store.listBalances(balancesQuery('everyone'))).grant, 'ACTIVE');
  },

  'checks the grant on every page, so a revocation stops a walk': async (open) => {
    const store = await openWith(open, 'acme');
    const rows = ['a', 'b', 'c'].map((id) => plainBalance('alice', id));
    await writeRows(store, 'balances', rows);
    await store.createGrant(grantOf('alice', { id: 'g', created_at: createdAt }), byTest);
    const query = balancesQuery('alice', { after: 'a', limit: 1 });
    assert.equal((await store.listBalances(query)).grant, 'ACTIVE');
    await (await open()).revokeGrant('alice', 'g', past, byTest);
    assert.deepEqual(await store.listBalances(query), { grant: 'NOT_FOUND' });
    assert.deepEqual(await store.listBalances({ ...query, grantId: 'g' }), { grant: 'REVOKED' });
  },
};
