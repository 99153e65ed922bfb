import assert from 'node:assert/strict';
import { byTest, createdAt, future, past } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { AlreadyExists, type GrantsQuery } from '../../src/port.ts';
import { digest } from './keys.ts';
import { brandRow, grant, openWith, plainBrand, type StoreTests, writeRows } from './records.ts';

const key = {
  id: 'k',
  partner_id: 'acme',
  last_four: 'abcd',
  created_at: createdAt,
  scopes: ['BRANDS_READ'],
} as const;

const taken = (error: unknown) => error instanceof AlreadyExists;

export const accountTests: StoreTests = {
  'finds a partner by its exact id, and lists partners in byte order': async (open) => {
    const store = await open();
    assert.deepEqual(await store.listPartners(), []);
    const ids = ['Zed', 'acme', '\ufffd', '🦊'];
    for (const id of ids.toReversed())
      await store.createPartner({ id, name: 'é "\\', created_at: createdAt }, byTest);
    assert.deepEqual(await store.findPartner('🦊'), { id: '🦊', name: 'é "\\', created_at: createdAt });
    assert.equal(await store.findPartner('ACME'), undefined);
    assert.deepEqual(pluck(await store.listPartners(), 'id'), ids);
  },

  'rejects a partner whose id is taken, and keeps the first': async (open) => {
    const store = await openWith(open, 'acme');
    await assert.rejects(store.createPartner({ id: 'acme', name: 'Other', created_at: past }, byTest), taken);
    assert.equal((await store.findPartner('acme'))?.name, 'The acme');
  },

  'disables and enables a partner for every open store': async (open) => {
    const [store, other] = [await openWith(open, 'acme', 'zenith'), await open()];
    await store.createKey(key, digest(1), byTest);
    await store.setPartnerDisabled('acme', past, byTest);
    assert.equal((await other.findPartner('acme'))?.disabled_at, past);
    assert.equal((await other.findKey(digest(1)))?.isPartnerDisabled, true);
    assert.ok(!('disabled_at' in ((await other.findPartner('zenith')) ?? {})));
    await store.setPartnerDisabled('acme', undefined, byTest);
    assert.equal((await other.findKey(digest(1)))?.isPartnerDisabled, false);
    const acme = { id: 'acme', name: 'The acme', created_at: createdAt };
    assert.deepEqual(await other.findPartner('acme'), acme);
  },

  "sets, keeps and removes a partner's own limits, with one entry for each change": async (open) => {
    const [store, other] = [await openWith(open, 'acme', 'zenith'), await open()];
    await store.createKey(key, digest(1), byTest);
    const by = { ...byTest, action: 'partners limit' } as const;
    const changes = [
      [{ brands: 10_000 }, { brands: 10_000 }],
      [
        { balances: 1, brands: 20 },
        { brands: 20, balances: 1 },
      ],
      [{ brands: 20, balances: null }, { brands: 20 }],
      [{ balances: null }, { brands: 20 }],
      [{ brands: null }, {}],
    ] as const;
    let from = {};
    for (const [change, to] of changes) {
      const isChange = JSON.stringify(from) !== JSON.stringify(to);
      assert.equal(await store.limitPartner('acme', change, by), isChange);
      assert.deepEqual((await other.findPartner('acme'))?.limits ?? {}, to);
      assert.deepEqual((await other.findKey(digest(1)))?.limits, to);
      const [entry] = await other.listAudit({ action: 'partners limit', limit: 1 });
      if (isChange) assert.deepEqual(entry?.details, { from, to });
      from = to;
    }
    assert.equal((await other.listAudit({ action: 'partners limit', limit: 9 })).length, 4);
    assert.equal(await store.limitPartner('nobody', { brands: 1 }, by), false);
  },

  'finds a brand of every partner that has its id, without metadata': async (open) => {
    const store = await openWith(open, 'acme', 'zenith', 'without');
    const looks = { color: '#abcdef', profile_image_url: 'https://images.example/a.png' };
    const brand = plainBrand('b', looks);
    const rows = [
      brandRow('zenith', plainBrand('b')),
      brandRow('acme', { ...brand, metadata: { tier: 'gold' } }),
      brandRow('acme', plainBrand('other')),
    ];
    await writeRows(store, 'brands', rows);
    assert.deepEqual(await store.findBrands('b'), [
      { partner_id: 'acme', ...brand },
      { partner_id: 'zenith', ...plainBrand('b') },
    ]);
    assert.deepEqual(await store.findBrands('B'), []);
  },

  'finds a grant under every customer that has its id': async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    const ofZoe = { ...grant, customer_id: 'zoe', partner_id: 'zenith', expires_at: future };
    await store.createGrant(ofZoe, byTest);
    await store.createGrant(grant, byTest);
    assert.deepEqual(await store.findGrants('g'), [grant, ofZoe]);
    assert.deepEqual(await store.findGrants('G'), []);
  },

  "lists a partner's own grants by customer and id, or those of one customer": async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    const grants = ['zoe', '🦊'].flatMap((customer_id) =>
      ['a', 'b'].map((id) => ({ ...grant, customer_id, id })),
    );
    for (const one of grants.toReversed()) await store.createGrant(one, byTest);
    await store.createGrant({ ...grant, partner_id: 'zenith', customer_id: 'zoe', id: 'c' }, byTest);
    assert.deepEqual(await store.listGrants({ partnerId: 'acme', at: createdAt }), grants);
    assert.deepEqual(
      await store.listGrants({ partnerId: 'acme', customerId: 'zoe', at: createdAt }),
      grants.slice(0, 2),
    );
    assert.deepEqual(await store.listGrants({ partnerId: 'acme', customerId: 'ZOE', at: createdAt }), []);
  },

  'rejects a grant whose id the customer already has, or whose partner does not exist': async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    await store.createGrant(grant, byTest);
    await assert.rejects(store.createGrant({ ...grant, partner_id: 'zenith' }, byTest), taken);
    await assert.rejects(store.createGrant({ ...grant, id: 'h', partner_id: 'nobody' }, byTest));
    assert.deepEqual(await store.listGrants({ partnerId: 'acme', at: createdAt }), [grant]);
  },

  'lists the grants of a customer, and those with a status at a time': async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    const stored = [
      { ...grant, id: 'a' },
      { ...grant, id: 'b', expires_at: past, partner_id: 'zenith' },
      { ...grant, id: 'c', expires_at: future },
      { ...grant, id: 'd', status: 'EXPIRED' as const },
      { ...grant, id: 'e', status: 'REVOKED' as const, expires_at: past },
    ];
    for (const one of stored) await store.createGrant(one, byTest);
    await store.createGrant({ ...grant, customer_id: 'zoe' }, byTest);
    const ids = async (query: Omit<GrantsQuery, 'at'>) =>
      pluck(await store.listGrants({ ...query, at: past }), 'id').join('');
    assert.equal(await ids({ customerId: 'alice' }), 'abcde');
    assert.equal(await ids({ customerId: 'alice', status: 'ACTIVE' }), 'ac');
    assert.equal(await ids({ customerId: 'alice', status: 'EXPIRED' }), 'bd');
    assert.equal(await ids({ customerId: 'alice', status: 'REVOKED' }), 'e');
    assert.equal(await ids({ customerId: 'alice', status: 'CONSUMED' }), '');
    assert.equal(await ids({ customerId: 'alice', partnerId: 'zenith' }), 'b');
    assert.equal(await ids({ partnerId: 'acme', status: 'ACTIVE' }), 'acg');
  },

  "revokes one customer's active grant and no other's, and never sets its time back": async (open) => {
    const store = await openWith(open, 'acme');
    const ofZoe = { ...grant, customer_id: 'zoe', status: 'CONSUMED' as const };
    await store.createGrant(grant, byTest);
    await store.createGrant({ ...grant, id: 'h' }, byTest);
    await store.createGrant(ofZoe, byTest);
    assert.equal(await store.revokeGrant('alice', 'g', '2001-01-01T00:00:00.000Z', byTest), true);
    assert.equal(await store.revokeGrant('alice', 'h', future, byTest), true);
    const revoked = { ...grant, status: 'REVOKED' };
    for (const customer of ['alice', 'zoe', 'nobody'])
      assert.equal(await store.revokeGrant(customer, 'g', future, byTest), false);
    assert.deepEqual(await store.findGrants('g'), [revoked, ofZoe]);
    assert.deepEqual(await store.findGrants('h'), [{ ...revoked, id: 'h', updated_at: future }]);
  },

  'revokes all active grants of a customer': async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    const used = { ...grant, id: 'used', status: 'CONSUMED' as const };
    const ofZoe = { ...grant, customer_id: 'zoe' };
    for (const one of [{ ...grant, id: 'b', partner_id: 'zenith' }, grant, used, ofZoe])
      await store.createGrant(one, byTest);
    const revoked = await store.revokeGrants('alice', future, byTest);
    assert.deepEqual(pluck(revoked, 'id'), ['b', 'g']);
    assert.deepEqual(revoked[1], { ...grant, status: 'REVOKED', updated_at: future });
    assert.deepEqual(await store.findGrants('g'), [revoked[1], ofZoe]);
    assert.deepEqual(await store.findGrants('used'), [used]);
    assert.deepEqual(await store.revokeGrants('alice', future, byTest), []);
  },
};
