import assert from 'node:assert/strict';
import { toTime } from '../../../common/src/times.ts';
import { byTest, createdAt, future, past } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { type AdminKey, AlreadyExists, ExpiryNotInFuture } from '../../src/port.ts';
import type { StoreTests } from './records.ts';

function keyOf(id: string, more: Partial<AdminKey> = {}): AdminKey {
  const key = { id, name: 'ci', role: 'SUPPORT' as const, last_four: 'abcd', created_at: createdAt };
  return { ...key, created_by: byTest.actor, ...more };
}

const digest = (fill: number) => new Uint8Array(32).fill(fill);
const replacement = { id: 'new', last_four: 'wxyz', digest: digest(9), overlapMs: 60_000 };
const taken = (error: unknown) => error instanceof AlreadyExists;

export const adminKeyTests: StoreTests = {
  'ends a session for every open store, and forgets it after its time': async (open) => {
    const [store, other] = [await open(), await open()];
    await store.endSession(digest(1), past);
    await store.endSession(digest(2), future);
    await store.endSession(digest(2), future);
    const areEnded = [digest(1), digest(2), digest(3)].map((session) => other.isSessionEnded(session));
    assert.deepEqual(await Promise.all(areEnded), [false, true, false]);
  },

  'finds an administrative key by its digest alone': async (open) => {
    const store = await open();
    assert.equal(await store.findAdminKey(digest(1)), undefined);
    await store.createAdminKey(keyOf('k1'), digest(1), byTest);
    await store.createAdminKey(keyOf('k2', { role: 'ADMIN', expires_at: future }), digest(2), byTest);
    const found = { id: 'k1', role: 'SUPPORT', expiresAt: undefined, isRevoked: false };
    assert.deepEqual(await store.findAdminKey(digest(1)), found);
    const other = { id: 'k2', role: 'ADMIN', expiresAt: future, isRevoked: false };
    assert.deepEqual(await store.findAdminKey(digest(2)), other);
    // The nearest key is read to take the same time, but never returned: before, between or after the keys.
    for (const unknown of [digest(0), digest(1).with(31, 9), digest(3), new Uint8Array()])
      assert.equal(await store.findAdminKey(unknown), undefined);
    // An administrative key is not found among the keys of partners.
    assert.equal(await store.findKey(digest(1)), undefined);
  },

  'lists administrative keys by id, and rejects one whose id or digest is taken': async (open) => {
    const store = await open();
    assert.deepEqual(await store.listAdminKeys(), []);
    const full = keyOf('k2', { expires_at: future, revoked_at: past });
    await store.createAdminKey(full, digest(2), byTest);
    await store.createAdminKey(keyOf('k1'), digest(1), byTest);
    await assert.rejects(store.createAdminKey(keyOf('k1'), digest(3), byTest), taken);
    await assert.rejects(store.createAdminKey(keyOf('k3'), digest(1), byTest), taken);
    assert.deepEqual(await store.listAdminKeys(), [keyOf('k1'), full]);
    assert.deepEqual(await store.findAdminKeyById('k2'), full);
    assert.equal(await store.findAdminKeyById('K2'), undefined);
  },

  'revokes an administrative key for every open store, and keeps the first time': async (open) => {
    const [store, other] = [await open(), await open()];
    await store.createAdminKey(keyOf('k1'), digest(1), byTest);
    await store.createAdminKey(keyOf('k2'), digest(2), byTest);
    assert.equal(await store.revokeAdminKey('k1', past, byTest), true);
    assert.equal(await store.revokeAdminKey('k1', future, byTest), false);
    assert.equal((await other.findAdminKeyById('k1'))?.revoked_at, past);
    assert.equal((await other.findAdminKey(digest(1)))?.isRevoked, true);
    assert.equal((await other.findAdminKey(digest(2)))?.isRevoked, false);
  },

  'rotates an administrative key in one transaction, with its name, role and lifetime': async (open) => {
    const [store, other] = [await open(), await open()];
    const created_at = new Date(Date.now() - 10_000).toISOString();
    const expires_at = new Date(Date.parse(created_at) + 40_000).toISOString();
    await store.createAdminKey(keyOf('old', { created_at, expires_at }), digest(1), byTest);
    await store.createAdminKey(keyOf('taken'), digest(2), byTest);
    await assert.rejects(store.rotateAdminKey('old', { ...replacement, id: 'taken' }, byTest), taken);
    const rotated = await store.rotateAdminKey('old', replacement, { ...byTest, actor: 'eve' });
    assert.deepEqual(await other.findAdminKeyById('old'), rotated?.old);
    assert.equal(rotated?.old.expires_at, expires_at);
    const key = await other.findAdminKeyById('new');
    assert.deepEqual(key, rotated?.key);
    assert.partialDeepStrictEqual(key, { name: 'ci', role: 'SUPPORT', created_by: 'eve', last_four: 'wxyz' });
    assert.equal(Date.parse(key?.expires_at ?? '') - Date.parse(key?.created_at ?? ''), 40_000);
  },

  'does not issue a key that has expired already, and leaves the old key as it was': async (open) => {
    const store = await open();
    const nowMs = Date.now();
    // The clock of another machine was ahead when the key was created. Then its expiry was moved.
    const [created_at, expires_at] = [toTime(nowMs + 7_200_000), toTime(nowMs + 3_600_000)];
    const old = keyOf('old', { created_at, expires_at });
    await store.createAdminKey(old, digest(1), byTest);
    for (const overlapMs of [0, 60_000]) {
      for (const expiresAt of [undefined, past]) {
        const given = { ...replacement, overlapMs, expiresAt };
        await assert.rejects(store.rotateAdminKey('old', given, byTest), ExpiryNotInFuture);
      }
    }
    assert.deepEqual(await store.listAdminKeys(), [old]);
    const rotated = await store.rotateAdminKey('old', { ...replacement, expiresAt: future }, byTest);
    assert.equal(rotated?.key.expires_at, future);
  },

  'revokes the old administrative key without an overlap, and refuses to rotate it again': async (open) => {
    const store = await open();
    await store.createAdminKey(keyOf('old'), digest(1), byTest);
    await store.createAdminKey(keyOf('past', { expires_at: past }), digest(2), byTest);
    await store.rotateAdminKey('old', { ...replacement, overlapMs: 0 }, byTest);
    assert.equal((await store.findAdminKey(digest(1)))?.isRevoked, true);
    for (const id of ['old', 'past', 'nobody'])
      assert.equal(await store.rotateAdminKey(id, { ...replacement, id: 'other' }, byTest), undefined);
    assert.deepEqual(pluck(await store.listAdminKeys(), 'id'), ['new', 'old', 'past']);
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
          await store.createAdminKey({ ...keyOf(key.id), ...more, ...expiry }, digest(fill), byTest);
      }
    }
    await store.setPartnerDisabled('disabled', at(0), byTest);
    assert.deepEqual([await first('partners'), await first('administration')], [at(3), at(4)]);
  },
};
