/** Keys of partners and of the administrative service, which have the same promises. */
import assert from 'node:assert/strict';
import { toTime } from '../../../common/src/times.ts';
import { byTest, createdAt, future, past } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import {
  AlreadyExists,
  type AnyKey,
  type Author,
  ExpiryNotInFuture,
  type Replacement,
  type Rotated,
  type Store,
} from '../../src/port.ts';
import { openWith, type StoreTests } from './records.ts';

export const digest = (fill: number) => new Uint8Array(32).fill(fill);

const common = { name: 'ci', last_four: 'abcd', created_at: createdAt, created_by: byTest.actor };
const api = { ...common, partner_id: 'acme', scopes: ['BRANDS_READ'] } as const;
const administrative = { ...common, role: 'SUPPORT' } as const;
const replacement = { id: 'new', last_four: 'wxyz', digest: digest(9), overlapMs: 60_000 };
const taken = (error: unknown) => error instanceof AlreadyExists;

interface Keys {
  create(key: AnyKey, digest: Uint8Array, author: Author): Promise<unknown>;
  find(digest: Uint8Array): Promise<object | undefined>;
  findById(id: string): Promise<AnyKey | undefined>;
  list(): Promise<readonly AnyKey[]>;
  revoke(id: string, at: string, author: Author): Promise<boolean>;
  rotate(id: string, replacement: Replacement, author: Author): Promise<Rotated<AnyKey> | undefined>;
}

/** The fields of a key, what a request reads of it, and what a store does with keys of its kind. */
type Kind = readonly [fields: typeof common, onFile: object, keysOf: (store: Store) => Keys];

const kinds: Readonly<Record<string, Kind>> = {
  'a key of a partner': [
    api,
    { partnerId: 'acme', scopes: ['BRANDS_READ'], isPartnerDisabled: false, limits: {} },
    (store) => ({
      create: store.createKey,
      find: store.findKey,
      findById: store.findKeyById,
      list: () => store.listKeys('acme'),
      revoke: store.revokeKey,
      rotate: store.rotateKey,
    }),
  ],
  'an administrative key': [
    administrative,
    { role: 'SUPPORT' },
    (store) => ({
      create: store.createAdminKey,
      find: store.findAdminKey,
      findById: store.findAdminKeyById,
      list: store.listAdminKeys,
      revoke: store.revokeAdminKey,
      rotate: store.rotateAdminKey,
    }),
  ],
};

function testsOf(kind: string, [fields, onFile, keysOf]: Kind): StoreTests {
  const keyOf = (id: string, more: Partial<AnyKey> = {}): AnyKey => ({ id, ...fields, ...more });
  /** The keys of two open stores. */
  const openTwo = async (open: Parameters<StoreTests[string]>[0]) => {
    const [one, other] = [await openWith(open, 'acme'), await open()];
    return [keysOf(one), keysOf(other)] as const;
  };
  return {
    [`finds ${kind} by its digest alone`]: async (open) => {
      const [keys] = await openTwo(open);
      assert.equal(await keys.find(digest(1)), undefined);
      await keys.create(keyOf('k1'), digest(1), byTest);
      await keys.create(keyOf('k2', { expires_at: future }), digest(2), byTest);
      const found = { ...onFile, id: 'k1', expiresAt: undefined, isRevoked: false };
      assert.deepEqual(await keys.find(digest(1)), found);
      assert.deepEqual(await keys.find(digest(2)), { ...found, id: 'k2', expiresAt: future });
      // The nearest key is read to take the same time, but never returned: before, between or after the keys.
      const between = digest(1).with(31, 9);
      for (const unknown of [digest(0), between, digest(3), digest(1).slice(0, 31), new Uint8Array()])
        assert.equal(await keys.find(unknown), undefined);
    },

    [`lists ${kind} by id, and rejects one whose id or digest is taken`]: async (open) => {
      const [keys] = await openTwo(open);
      assert.deepEqual(await keys.list(), []);
      const full = keyOf('k2', { expires_at: future, revoked_at: past });
      await keys.create(full, digest(2), byTest);
      await keys.create(keyOf('k1'), digest(1), byTest);
      await assert.rejects(keys.create(keyOf('k1'), digest(3), byTest), taken);
      await assert.rejects(keys.create(keyOf('k3'), digest(1), byTest), taken);
      assert.deepEqual(await keys.list(), [keyOf('k1'), full]);
      assert.deepEqual(await keys.findById('k2'), full);
      assert.equal(await keys.findById('K2'), undefined);
    },

    [`revokes ${kind} for every open store, and keeps the first time`]: async (open) => {
      const [keys, others] = await openTwo(open);
      await keys.create(keyOf('k1'), digest(1), byTest);
      await keys.create(keyOf('k2'), digest(2), byTest);
      assert.equal(await keys.revoke('k1', past, byTest), true);
      assert.equal(await keys.revoke('k1', future, byTest), false);
      assert.equal((await others.findById('k1'))?.revoked_at, past);
      assert.partialDeepStrictEqual(await others.find(digest(1)), { isRevoked: true });
      assert.partialDeepStrictEqual(await others.find(digest(2)), { isRevoked: false });
    },

    [`rotates ${kind} in one transaction`]: async (open) => {
      const [keys, others] = await openTwo(open);
      await keys.create(keyOf('old'), digest(1), byTest);
      await keys.create(keyOf('taken'), digest(2), byTest);
      await assert.rejects(keys.rotate('old', { ...replacement, id: 'taken' }, byTest), taken);
      await assert.rejects(keys.rotate('old', { ...replacement, digest: digest(2) }, byTest), taken);
      assert.deepEqual(await others.findById('old'), keyOf('old'));
      const before = Date.now();
      const rotated = await keys.rotate('old', replacement, { ...byTest, actor: 'eve' });
      assert.deepEqual(await others.findById('old'), rotated?.old);
      const key = { ...fields, id: 'new', last_four: 'wxyz', created_by: 'eve' };
      const { created_at } = rotated!.key;
      assert.deepEqual(await others.findById('new'), { ...key, created_at });
      assert.deepEqual(await others.find(digest(9)), { ...(await others.find(digest(2))), id: 'new' });
      const endMs = Date.parse(rotated?.old.expires_at ?? '') - 60_000;
      assert.ok(endMs >= before && endMs <= Date.now());
    },

    [`gives the new key the lifetime of ${kind}, and never extends the old one`]: async (open) => {
      const [keys] = await openTwo(open);
      const nowMs = Date.now();
      const [created_at, expires_at] = [toTime(nowMs - 10_000), toTime(nowMs + 30_000)];
      await keys.create(keyOf('old', { created_at, expires_at }), digest(1), byTest);
      const first = await keys.rotate('old', replacement, byTest);
      assert.equal(first?.old.expires_at, expires_at);
      const lifetimeMs = Date.parse(first?.key.expires_at ?? '') - Date.parse(first?.key.created_at ?? '');
      assert.equal(lifetimeMs, 40_000);
      const another = { ...replacement, id: 'k3', digest: digest(3), expiresAt: future };
      assert.equal((await keys.rotate('old', another, byTest))?.key.expires_at, future);
    },

    [`rotates ${kind} whose lifetime would end after the year 9999`]: async (open) => {
      const [keys, others] = await openTwo(open);
      const last = '9999-12-31T23:59:59.999Z';
      await keys.create(keyOf('old', { expires_at: last }), digest(1), byTest);
      await keys.rotate('old', { ...replacement, overlapMs: 0 }, byTest);
      assert.partialDeepStrictEqual(await others.find(digest(1)), { isRevoked: true });
      assert.equal((await others.findById('new'))?.expires_at, last);
    },

    [`replaces ${kind} by no key that has expired already, and leaves it as it was`]: async (open) => {
      const [keys] = await openTwo(open);
      const nowMs = Date.now();
      // The clock of another machine was ahead when the key was created. Then its expiry was moved.
      const [created_at, expires_at] = [toTime(nowMs + 7_200_000), toTime(nowMs + 3_600_000)];
      const old = keyOf('old', { created_at, expires_at });
      await keys.create(old, digest(1), byTest);
      for (const overlapMs of [0, 60_000]) {
        for (const expiresAt of [undefined, past]) {
          const given = { ...replacement, overlapMs, expiresAt };
          await assert.rejects(keys.rotate('old', given, byTest), ExpiryNotInFuture);
        }
      }
      assert.deepEqual(await keys.list(), [old]);
      const rotated = await keys.rotate('old', { ...replacement, expiresAt: future }, byTest);
      assert.equal(rotated?.key.expires_at, future);
    },

    [`revokes ${kind} without an overlap, and then refuses to rotate it`]: async (open) => {
      const [keys, others] = await openTwo(open);
      await keys.create(keyOf('old'), digest(1), byTest);
      await keys.create(keyOf('past', { expires_at: past }), digest(2), byTest);
      const rotated = await keys.rotate('old', { ...replacement, overlapMs: 0 }, byTest);
      assert.partialDeepStrictEqual(await others.find(digest(1)), { isRevoked: true });
      assert.ok(!('expires_at' in rotated!.old));
      for (const id of ['old', 'past', 'nobody'])
        assert.equal(await keys.rotate(id, { ...replacement, id: 'other' }, byTest), undefined);
      assert.deepEqual(pluck(await keys.list(), 'id'), ['new', 'old', 'past']);
    },
  };
}

export const keyTests: StoreTests = {
  ...Object.fromEntries(Object.entries(kinds).flatMap(([kind, of]) => Object.entries(testsOf(kind, of)))),

  'keeps the keys of a partner apart from those of another, and from administrative keys': async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    await store.createKey({ ...api, id: 'k1', scopes: ['BRANDS_READ', 'BALANCES_READ'] }, digest(1), byTest);
    await store.createKey({ ...api, id: 'k2', partner_id: 'zenith' }, digest(2), byTest);
    await store.createAdminKey({ ...administrative, id: 'k3' }, digest(3), byTest);
    assert.deepEqual(pluck(await store.listKeys('acme'), 'id'), ['k1']);
    assert.deepEqual(await store.listKeys('nobody'), []);
    assert.deepEqual((await store.findKey(digest(1)))?.scopes.toSorted(), ['BALANCES_READ', 'BRANDS_READ']);
    assert.equal(await store.findKey(digest(3)), undefined);
    assert.equal(await store.findAdminKey(digest(1)), undefined);
    const ofNobody = { ...api, id: 'k4', partner_id: 'nobody' };
    await assert.rejects(store.createKey(ofNobody, digest(4), byTest));
  },

  'ends a session for every open store, and forgets it after its time': async (open) => {
    const [store, other] = [await open(), await open()];
    await store.endSession(digest(1), past);
    await store.endSession(digest(2), future);
    await store.endSession(digest(2), future);
    const areEnded = [digest(1), digest(2), digest(3)].map((session) => other.isSessionEnded(session));
    assert.deepEqual(await Promise.all(areEnded), [false, true, false]);
  },

  'finds the first expiry of keys that still work, of partners and of administration apart': async (open) => {
    const store = await open();
    const first = (of: 'partners' | 'administration') => store.firstExpiry(of, at(0));
    const at = (minutes: number) => new Date(Date.parse(createdAt) + minutes * 60_000).toISOString();
    assert.deepEqual([await first('partners'), await first('administration')], [undefined, undefined]);
    let fill = 0;
    for (const partner of ['acme', 'disabled']) {
      await store.createPartner({ id: partner, name: partner, created_at: createdAt }, byTest);
      for (const [minutes, more] of [
        [0, {}],
        [1, { revoked_at: at(0) }],
        [partner === 'acme' ? 3 : 2, {}],
        [4, {}],
        [undefined, {}],
      ] as const) {
        const key = { id: `${partner}-${minutes}`, last_four: 'abcd', created_at: createdAt, ...more };
        const expiry = minutes === undefined ? {} : { expires_at: at(minutes) };
        const api = { ...key, ...expiry, partner_id: partner, scopes: ['BRANDS_READ'] as const };
        fill += 1;
        await store.createKey(api, digest(fill), byTest);
        if (partner === 'acme' && minutes !== 3)
          await store.createAdminKey({ ...administrative, ...key, ...expiry }, digest(fill), byTest);
      }
    }
    await store.setPartnerDisabled('disabled', at(0), byTest);
    assert.deepEqual([await first('partners'), await first('administration')], [at(3), at(4)]);
  },
};
