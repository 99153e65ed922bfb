import assert from 'node:assert/strict';
import { createdAt, future, past } from '../../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../../testkit/fixtures/pluck.ts';
import { AlreadyExists, type ApiKey } from '../../../src/store/port.ts';
import { createPartners, grant, openWith, type StoreTests } from './records.ts';

function keyOf(id: string, more: Partial<ApiKey> = {}): ApiKey {
  const key = { id, partner_id: 'acme', last_four: 'abcd', created_at: createdAt };
  return { ...key, scopes: ['BRANDS_READ'], ...more };
}

function digest(fill: number): Uint8Array {
  return new Uint8Array(32).fill(fill);
}

const taken = (error: unknown) => error instanceof AlreadyExists;

export const accountTests: StoreTests = {
  'finds a partner by its exact id, and lists partners in byte order': async (open) => {
    const store = await open();
    assert.deepEqual(await store.listPartners(), []);
    const ids = ['Zed', 'acme', '\ufffd', '🦊'];
    for (const id of ids.toReversed())
      await store.createPartner({ id, name: 'é "\\', created_at: createdAt });
    assert.deepEqual(await store.findPartner('🦊'), { id: '🦊', name: 'é "\\', created_at: createdAt });
    assert.equal(await store.findPartner('ACME'), undefined);
    assert.deepEqual(pluck(await store.listPartners(), 'id'), ids);
  },

  'rejects a partner whose id is taken, and keeps the first': async (open) => {
    const store = await openWith(open, 'acme');
    await assert.rejects(store.createPartner({ id: 'acme', name: 'Other', created_at: past }), taken);
    assert.equal((await store.findPartner('acme'))?.name, 'The acme');
  },

  'disables and enables a partner for every open store': async (open) => {
    const [store, other] = [await openWith(open, 'acme', 'zenith'), await open()];
    await store.createKey(keyOf('k'), digest(1));
    await store.setPartnerDisabled('acme', past);
    assert.equal((await other.findPartner('acme'))?.disabled_at, past);
    assert.equal((await other.findKey(digest(1)))?.isPartnerDisabled, true);
    assert.ok(!('disabled_at' in ((await other.findPartner('zenith')) ?? {})));
    await store.setPartnerDisabled('acme', undefined);
    assert.equal((await other.findKey(digest(1)))?.isPartnerDisabled, false);
    const acme = { id: 'acme', name: 'The acme', created_at: createdAt };
    assert.deepEqual(await other.findPartner('acme'), acme);
  },

  'finds a key by its digest alone': async (open) => {
    const store = await open();
    assert.equal(await store.findKey(digest(1)), undefined);
    await createPartners(store, 'acme');
    await store.createKey(keyOf('k1', { scopes: ['BRANDS_READ', 'BALANCES_READ'] }), digest(1));
    await store.createKey(keyOf('k2', { expires_at: future }), digest(2));
    const standing = { partnerId: 'acme', isRevoked: false, isPartnerDisabled: false };
    const first = await store.findKey(digest(1));
    assert.deepEqual(first && { ...first, scopes: first.scopes.toSorted() }, {
      ...standing,
      id: 'k1',
      scopes: ['BALANCES_READ', 'BRANDS_READ'],
      expiresAt: undefined,
    });
    assert.deepEqual(await store.findKey(digest(2)), {
      ...standing,
      id: 'k2',
      scopes: ['BRANDS_READ'],
      expiresAt: future,
    });
    // The nearest key is read to take the same time, but never returned: before, between or after the keys.
    const between = digest(1).with(31, 9);
    for (const unknown of [digest(0), between, digest(3), digest(1).slice(0, 31), new Uint8Array()]) {
      assert.equal(await store.findKey(unknown), undefined);
    }
  },

  'rejects a key whose id or digest is taken, or whose partner does not exist': async (open) => {
    const store = await openWith(open, 'acme');
    await store.createKey(keyOf('k1'), digest(1));
    await assert.rejects(store.createKey(keyOf('k1'), digest(2)), taken);
    await assert.rejects(store.createKey(keyOf('k2'), digest(1)), taken);
    await assert.rejects(store.createKey(keyOf('k3', { partner_id: 'nobody' }), digest(3)));
    assert.deepEqual(pluck(await store.listKeys('acme'), 'id'), ['k1']);
  },

  "lists a partner's own keys, without optional fields that have no value": async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    const full = keyOf('k2', { name: 'ci', expires_at: future, revoked_at: past });
    await store.createKey(full, digest(2));
    await store.createKey(keyOf('k1'), digest(1));
    await store.createKey(keyOf('k3', { partner_id: 'zenith' }), digest(3));
    assert.deepEqual(await store.listKeys('acme'), [keyOf('k1'), full]);
    assert.deepEqual(await store.findKeyById('k2'), full);
    assert.equal(await store.findKeyById('K2'), undefined);
    assert.deepEqual(await store.listKeys('nobody'), []);
  },

  'revokes a key for every open store, and keeps the time of the first revocation': async (open) => {
    const [store, other] = [await openWith(open, 'acme'), await open()];
    await store.createKey(keyOf('k1'), digest(1));
    await store.createKey(keyOf('k2'), digest(2));
    await store.revokeKey('k1', past);
    await store.revokeKey('k1', future);
    assert.equal((await other.findKeyById('k1'))?.revoked_at, past);
    assert.equal((await other.findKey(digest(1)))?.isRevoked, true);
    assert.equal((await other.findKey(digest(2)))?.isRevoked, false);
  },

  'rotates a key in one transaction': async (open) => {
    const [store, other] = [await openWith(open, 'acme'), await open()];
    await store.createKey(keyOf('old'), digest(1));
    await store.createKey(keyOf('taken'), digest(2));
    await assert.rejects(store.rotateKey('old', future, keyOf('taken'), digest(3)), taken);
    await assert.rejects(store.rotateKey('old', future, keyOf('new'), digest(2)), taken);
    assert.deepEqual(await other.findKeyById('old'), keyOf('old'));
    await store.rotateKey('old', future, keyOf('new'), digest(3));
    assert.equal((await other.findKey(digest(1)))?.expiresAt, future);
    assert.equal((await other.findKey(digest(3)))?.id, 'new');
  },

  'finds a grant under every customer that has its id': async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    const ofZoe = { ...grant, customer_id: 'zoe', partner_id: 'zenith', expires_at: future };
    await store.createGrant(ofZoe);
    await store.createGrant(grant);
    assert.deepEqual(await store.findGrants('g'), [grant, ofZoe]);
    assert.deepEqual(await store.findGrants('G'), []);
  },

  "lists a partner's own grants by customer and id, or those of one customer": async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    const grants = ['zoe', '🦊'].flatMap((customer_id) =>
      ['a', 'b'].map((id) => ({ ...grant, customer_id, id })),
    );
    for (const one of grants.toReversed()) await store.createGrant(one);
    await store.createGrant({ ...grant, partner_id: 'zenith', customer_id: 'zoe', id: 'c' });
    assert.deepEqual(await store.listGrants('acme', undefined), grants);
    assert.deepEqual(await store.listGrants('acme', 'zoe'), grants.slice(0, 2));
    assert.deepEqual(await store.listGrants('acme', 'ZOE'), []);
  },

  'rejects a grant whose id the customer already has, or whose partner does not exist': async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    await store.createGrant(grant);
    await assert.rejects(store.createGrant({ ...grant, partner_id: 'zenith' }), taken);
    await assert.rejects(store.createGrant({ ...grant, id: 'h', partner_id: 'nobody' }));
    assert.deepEqual(await store.listGrants('acme', undefined), [grant]);
  },

  "revokes one customer's grant and no other's": async (open) => {
    const store = await openWith(open, 'acme');
    const ofZoe = { ...grant, customer_id: 'zoe' };
    await store.createGrant(grant);
    await store.createGrant(ofZoe);
    await store.revokeGrant('alice', 'g', past);
    assert.deepEqual(await store.findGrants('g'), [{ ...grant, status: 'REVOKED', updated_at: past }, ofZoe]);
  },
};
