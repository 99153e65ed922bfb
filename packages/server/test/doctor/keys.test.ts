/** Keys that expire soon, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scope } from '@partner-network/contract/scopes';
import { openTestDatabase } from '../../../testkit/fixtures/database.ts';
import { toTime } from '../../src/lib/times.ts';
import type { ApiKey, Store } from '../../src/store/port.ts';
import { assertFinding, findingsOf } from './examined.ts';

const now = Date.parse('2026-03-01T00:00:00.000Z');
const hours = (count: number) => toTime(now + count * 3_600_000);
const week = 7 * 24;

let made = 0;

type Some = Partial<ApiKey>;

/** Creates keys of a partner, with both scopes by default. */
async function addKeys(store: Store, ...keys: Some[]): Promise<void> {
  for (const key of keys) {
    made += 1;
    const id = `KEY_${String(made).padStart(3, '0')}`;
    const scopes: Scope[] = ['BALANCES_READ', 'BRANDS_READ'];
    const whole = { id, partner_id: 'acme', scopes, last_four: 'abcd', created_at: hours(-9), ...key };
    await store.createKey(whole, Buffer.alloc(32, made));
  }
}

for (const engine of ['sqlite', 'postgres']) {
  test(`warns of keys that expire within 7 days, unless they are replaced (${engine})`, async (t) => {
    const { store, url } = await openTestDatabase(
      t,
      'partners',
      async (filled) => {
        for (const id of ['acme', 'closed']) {
          await filled.createPartner({ id, name: id, created_at: hours(-10) });
        }
        await filled.setPartnerDisabled('closed', hours(-1));
      },
      engine,
    );
    const keys = async () =>
      (await findingsOf(['--database', url, '--environment', 'sandbox'], () => now)).keys!;

    await addKeys(
      store,
      { id: 'KEY_for_ever' },
      { id: 'KEY_later', expires_at: hours(week + 1) },
      { id: 'KEY_past', expires_at: hours(-1) },
      { id: 'KEY_revoked', expires_at: hours(1), revoked_at: hours(-1) },
      { id: 'KEY_closed', partner_id: 'closed', expires_at: hours(1) },
    );
    assertFinding(await keys(), 'ok', /^No key expires within 7 days\.$/);

    // As after a rotation: a newer key with the same name, and at least its scopes.
    await addKeys(
      store,
      { id: 'KEY_old', name: 'batch', scopes: ['BRANDS_READ'], expires_at: hours(24) },
      { id: 'KEY_new', name: 'batch', created_at: hours(-1) },
    );
    const replaced = /^1 key expires .* KEY_old "batch" of acme, 2026-03-02T00:00:00\.000Z \(replaced\)\.$/;
    assertFinding(await keys(), 'ok', replaced);

    await addKeys(
      store,
      { id: 'KEY_lone', name: 'mobile', expires_at: hours(week) },
      { id: 'KEY_less', name: 'mobile', scopes: ['BRANDS_READ'], created_at: hours(-1) },
      { id: 'KEY_dead', name: 'mobile', created_at: hours(-1), revoked_at: hours(-1) },
      { id: 'KEY_dies', name: 'mobile', created_at: hours(-1), expires_at: hours(2) },
    );
    const lone = await keys();
    assertFinding(lone, 'warning', /^3 keys expire within 7 days: KEY_dies .*; KEY_lone .*; KEY_old /);
    assert.match(lone.remedy!, /keys rotate KEY_ID/);
    assert.doesNotMatch(lone.detail, /KEY_(dies|lone)[^;]*replaced/);

    await addKeys(store, ...Array.from({ length: 25 }, () => ({ name: 'many', expires_at: hours(1) })));
    const { detail } = await keys();
    assert.match(detail, /^28 keys expire .*; and 8 more\.$/);
    assert.equal(detail.match(/KEY_/g)!.length, 20);
  });
}
