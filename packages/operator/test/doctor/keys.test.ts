/** API keys that expire soon and keys of cursors, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scope } from '@partner-network/contract/permissions';
import { cursorsBounds } from '../../../common/src/bounds/service.ts';
import { toTime } from '../../../common/src/times.ts';
import type { AdminKey, ApiKey, Store } from '../../../store/src/port.ts';
import { byTest } from '../../../testkit/fixtures/fixture.ts';
import { urlInRole } from '../../../testkit/servers/roles.ts';
import { openTestDatabase } from '../../../testkit/service/database.ts';
import { assertFinding, findingsOf } from './examined.ts';

const now = Date.parse('2026-03-01T00:00:00.000Z');
const hours = (count: number) => toTime(now + count * 3_600_000);
const week = 7 * 24;
const findings = (url: string) => findingsOf(['--database', url, '--environment', 'sandbox'], () => now);

let made = 0;

type Some = Partial<ApiKey>;

/** Creates keys of a partner, with both scopes by default. */
async function addKeys(store: Store, ...keys: Some[]): Promise<void> {
  for (const key of keys) {
    made += 1;
    const id = `KEY_${String(made).padStart(3, '0')}`;
    const scopes: Scope[] = ['BALANCES_READ', 'BRANDS_READ'];
    const whole = { id, partner_id: 'acme', scopes, last_four: 'abcd', created_at: hours(-9), ...key };
    await store.createKey(whole, Buffer.alloc(32, made), byTest);
  }
}

for (const engine of ['sqlite', 'postgres']) {
  test(`warns of keys that expire within 7 days, unless they are replaced (${engine})`, async (t) => {
    const { store, url } = await openTestDatabase(
      t,
      'partners',
      async (filled) => {
        for (const id of ['acme', 'closed']) {
          await filled.createPartner({ id, name: id, created_at: hours(-10) }, byTest);
        }
        await filled.setPartnerDisabled('closed', hours(-1), byTest);
      },
      engine,
    );
    const keys = async () => (await findings(url)).keys!;

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

  test(`warns of a replaced key that is still in use (${engine})`, async (t) => {
    const { store, url } = await openTestDatabase(
      t,
      'partner',
      (filled) => filled.createPartner({ id: 'acme', name: 'acme', created_at: hours(-10) }, byTest),
      engine,
    );
    const keys = async () => (await findings(url)).keys!;
    const use = (keyId: string, hour: number) => store.recordKeyUses([{ keyId, usedAt: hours(hour) }]);
    await addKeys(
      store,
      { id: 'KEY_a', name: 'batch', expires_at: hours(week * 2) },
      { id: 'KEY_as_old', name: 'batch' },
      { id: 'KEY_b', name: 'batch', created_at: hours(-2) },
      { id: 'KEY_other', name: 'mobile', expires_at: hours(week * 2) },
    );
    await use('KEY_a', -2);
    await use('KEY_b', -1);
    await use('KEY_other', -1);
    assertFinding(await keys(), 'ok', /^No key expires within 7 days\.$/);
    await use('KEY_a', -1);
    const used =
      /1 replaced key is still in use: KEY_a "batch" of acme, used 2026-02-28T23.*, works until 2026/;
    assertFinding(await keys(), 'warning', used, /^Tell each partner to use its newer key/);
    await store.revokeKey('KEY_a', hours(0), byTest);
    assertFinding(await keys(), 'ok', /^No key expires/);
  });

  test(`warns of administrative keys that expire soon, if it may read them (${engine})`, async (t) => {
    const { store, url } = await openTestDatabase(t, 'migrated', async () => {}, engine);
    const add = (id: string, name: string, more: Partial<AdminKey>) => {
      made += 1;
      const key = { id, name, role: 'ADMIN', last_four: 'abcd', created_at: hours(-9), ...more } as const;
      return store.createAdminKey(key, Buffer.alloc(32, made), byTest);
    };
    await add('ADMIN_KEY_later', 'later', { expires_at: hours(week + 1) });
    await add('ADMIN_KEY_past', 'past', { expires_at: hours(-1) });
    await add('ADMIN_KEY_revoked', 'revoked', { expires_at: hours(1), revoked_at: hours(-1) });
    await add('ADMIN_KEY_old', 'replaced', { expires_at: hours(1) });
    await add('ADMIN_KEY_new', 'replaced', { created_at: hours(-1) });
    assertFinding((await findings(url)).keys!, 'ok', /^No key expires within 7 days\.$/);

    await add('ADMIN_KEY_ana', 'Ana', { expires_at: hours(24) });
    await add('ADMIN_KEY_other', 'Ana', { created_at: hours(-1), role: 'VIEWER' });
    const one = /^1 administrative key expires .*: ADMIN_KEY_ana "Ana" with the role ADMIN, 2026-03-02T/;
    assertFinding((await findings(url)).keys!, 'warning', one, /admin-keys rotate ID/);
    if (engine === 'sqlite') return;
    const serving = await findings(await urlInRole(t, url, 'network_serve'));
    assertFinding(serving.keys!, 'ok', /^No key expires within 7 days\.$/);
    const administering = await findings(await urlInRole(t, url, 'network_admin'));
    assertFinding(administering.keys!, 'warning', one);
    const enough = /has all privileges that the administrative service needs, and no others\.$/;
    assertFinding(administering.privileges!, 'ok', enough);
  });

  test(`reports a cursor key that is old, in the future or missing (${engine})`, async (t) => {
    const { url, execute } = await openTestDatabase(t, 'migrated', async () => {}, engine);
    const finding = async () => (await findings(url)).cursor_keys!;
    const made = (ms: number) => execute('update cursor_keys set created_at = $1', toTime(ms));

    await made(now - 400 * 24 * 3_600_000);
    assertFinding(await finding(), 'ok', /^The newest cursor key is 400 days old\.$/);
    await made(now - 400 * 24 * 3_600_000 - 1);
    assertFinding(await finding(), 'warning', / is 400 days old\.$/, /"partner-network cursor-key rotate"/);
    await made(now + cursorsBounds.keySettleMs);
    assertFinding(await finding(), 'ok', / is 0 days old\.$/);
    await made(now + cursorsBounds.keySettleMs + 1);
    assertFinding(await finding(), 'warning', / future time, 2026-03-01T/, /clock .* --discard-old/);
    await execute('delete from cursor_keys');
    assertFinding(await finding(), 'failed', /^There is no cursor key, so serve /, /cursor-key rotate/);
  });
}
