/** Changes over the administrative API: what they do, and that a repetition is safe. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { test } from 'node:test';
import { adminKeyOf, digestOfKey } from '../../../service/src/auth.ts';
import type { AuditAction } from '../../../store/src/port.ts';
import {
  byTest,
  createdAt,
  future,
  keys,
  keyWithoutLifetime,
  past,
} from '../../../testkit/fixtures/fixture.ts';
import { keepKeysIn } from '../../../testkit/watch/logs.ts';
import { adminScene, assertErrors, balance, engines } from './scene.ts';

for (const engine of engines) {
  test(`a partner is created, renamed, disabled and enabled; each again is safe (${engine})`, async (t) => {
    const { send, put, post, store } = await adminScene(t, engine);
    const path = '/partners/new%20partner';
    const named = async (name: string, reason?: string) => {
      const { status, body } = await put(path, { name, reason });
      return [status, body.partner.name];
    };
    assert.deepEqual(await named('New', 'ticket 1'), [201, 'New']);
    assert.deepEqual(await named('New'), [200, 'New']);
    assert.deepEqual(await named('Newer'), [200, 'Newer']);
    const disabled = await post(`${path}/disable`, undefined, { role: 'SUPPORT' });
    assert.deepEqual((await post(`${path}/disable`)).body, disabled.body);
    assert.ok(disabled.body.partner.disabled_at);
    const enabled = await post(`${path}/enable`, { reason: 'paid' });
    assert.deepEqual([enabled.status, enabled.body.partner.disabled_at], [200, undefined]);
    const found = await send(path);
    assert.deepEqual([found.body, found.headers.get('cache-control')], [enabled.body, 'no-store']);
    assertErrors(await send('/partners/nobody'), 404, 'NOT_FOUND');
    assertErrors(await post('/partners/nobody/disable'), 404, 'NOT_FOUND');

    const entries = await store.listAudit({ target: 'new partner', limit: 10 });
    const said = entries.map(({ actor, action, details }) => [actor, action, details.reason].join(' '));
    assert.deepEqual(said, [
      'admin-key:ADMIN_ADMIN partners enable paid',
      'admin-key:ADMIN_SUPPORT partners disable ',
      'admin-key:ADMIN_ADMIN partners rename ',
      'admin-key:ADMIN_ADMIN partners create ticket 1',
    ]);
  });

  test(`limits are set, and what is absent or null means the default (${engine})`, async (t) => {
    const { send, put, store } = await adminScene(t, engine);
    const path = '/partners/acme/limits';
    for (const [body, limits] of [
      [
        { brands: 1, balances: 10_000, reason: 'abuse' },
        { brands: 1, balances: 10_000 },
      ],
      [
        { brands: 1, balances: 10_000 },
        { brands: 1, balances: 10_000 },
      ],
      [{ balances: 5 }, { balances: 5 }],
      [{ brands: null, balances: null }, undefined],
      [{}, undefined],
    ] as const) {
      const answer = await put(path, body);
      assert.deepEqual([answer.status, answer.body.partner.limits], [200, limits]);
      assert.deepEqual((await send('/partners/acme')).body, answer.body);
      assert.deepEqual((await send('/partners')).body.partners[0], answer.body.partner);
    }
    const entries = await store.listAudit({ action: 'partners limit', limit: 9 });
    assert.deepEqual(entries.at(-1)!.details, {
      from: {},
      to: { brands: 1, balances: 10_000 },
      reason: 'abuse',
    });
    assert.equal(entries.length, 3);
    for (const [brands, code] of [
      [0, 'VALUE_TOO_LOW'],
      [-1, 'VALUE_TOO_LOW'],
      [10_001, 'VALUE_TOO_HIGH'],
      [1.5, 'EXPECTED_INTEGER'],
      ['20', 'EXPECTED_INTEGER'],
      [true, 'EXPECTED_INTEGER'],
    ] as const) {
      assertErrors(await put(path, { brands }), 400, `${code} brands`);
    }
    assertErrors(await put('/partners/nobody/limits', { brands: 1 }), 404, 'NOT_FOUND');
    assert.equal((await store.listAudit({ action: 'partners limit', limit: 9 })).length, 3);
  });

  test(`a key is created once; its secret is in the first answer alone (${engine})`, async (t) => {
    const { send, put, post, store } = await adminScene(t, engine);
    const body = { partner_id: 'acme', scopes: ['BRANDS_READ', 'BALANCES_READ'], name: 'shop' };
    const first = await put('/keys/KEY_A', body);
    keepKeysIn(first.body.secret);
    assert.equal(first.status, 201);
    assert.equal((await store.findKey(digestOfKey(first.body.secret)))?.id, 'KEY_A');
    assert.equal(first.body.key.created_by, 'admin-key:ADMIN_ADMIN');
    const fields = 'id partner_id name scopes status last_four created_at created_by';
    assert.equal(Object.keys(first.body.key).join(' '), fields);
    const again = await put('/keys/KEY_A', { ...body, scopes: body.scopes.toReversed() });
    assert.deepEqual([again.status, again.body], [200, { key: first.body.key }]);
    for (const other of [{ name: 'other' }, { scopes: ['BRANDS_READ'] }, { expires_at: future }]) {
      assertErrors(await put('/keys/KEY_A', { ...body, ...other }), 409, 'ID_CONFLICT');
    }
    const found = await post('/keys/find', { key: first.body.secret }, { role: 'SUPPORT' });
    assert.deepEqual(found.body, { key: first.body.key });
    assertErrors(await post('/keys/find', { key: keys.neverIssued }), 404, 'NOT_FOUND');
    const administrative = await post('/keys/find', { key: adminKeyOf('sandbox', 'any'.padEnd(43, '0')) });
    assertErrors(administrative, 404, 'NOT_FOUND');
    assert.match(administrative.body.errors[0].detail, /^This is an administrative key\. .*revoke it with/);
    const revoked = await post('/keys/KEY_A/revoke', undefined, { role: 'SUPPORT' });
    assert.equal(revoked.body.key.status, 'revoked');
    assert.deepEqual((await post('/keys/KEY_A/revoke')).body, revoked.body);
    assert.deepEqual((await put('/keys/KEY_A', body)).body, revoked.body);
    assert.deepEqual((await send('/keys/KEY_A')).body, revoked.body);
    const stray = await put('/keys/KEY_B', { ...body, partner_id: 'nobody' });
    assertErrors(stray, 400, 'UNKNOWN_PARTNER partner_id');
  });

  test(`a key is replaced once, and keeps working for the overlap (${engine})`, async (t) => {
    const { put, post, send } = await adminScene(t, engine);
    const made = await put('/keys/OLD', { partner_id: 'acme', scopes: ['BRANDS_READ'] });
    keepKeysIn(made.body.secret);
    const first = await put('/keys/NEW', { replaces: 'OLD', overlap_seconds: 60 });
    keepKeysIn(first.body.secret);
    assert.deepEqual([first.status, first.body.key.scopes], [201, ['BRANDS_READ']]);
    const again = await put('/keys/NEW', { replaces: 'OLD', overlap_seconds: 60 });
    assert.deepEqual([again.status, again.body], [200, { key: first.body.key }]);
    assertErrors(await put('/keys/NEW', { replaces: 'OLD' }), 409, 'ID_CONFLICT');
    assertErrors(await put('/keys/OLD', { replaces: 'NEW' }), 409, 'ID_CONFLICT');
    assert.ok((await send('/keys/OLD')).body.key.expires_at);
    // The expiry of the old key has moved. The request that created it is still the same.
    assert.equal((await put('/keys/OLD', { partner_id: 'acme', scopes: ['BRANDS_READ'] })).status, 200);
    await post('/keys/OLD/revoke');
    assertErrors(await put('/keys/NEXT', { replaces: 'OLD' }), 409, 'KEY_NOT_ACTIVE');
    assertErrors(await put('/keys/NEXT', { replaces: 'nobody' }), 404, 'NOT_FOUND');
    const last = await put('/keys/NEXT', { replaces: 'NEW', overlap_seconds: 0 });
    keepKeysIn(last.body.secret);
    assert.equal((await send('/keys/NEW')).body.key.status, 'revoked');
  });

  test(`an expiry in the past is refused, except in a repeated request (${engine})`, async (t) => {
    const { send, put, store } = await adminScene(t, engine);
    const key = { partner_id: 'acme', scopes: ['BRANDS_READ' as const], expires_at: past };
    const grant = { partner_id: 'acme', expires_at: past };
    const late: readonly (readonly [path: string, body: object, status: string])[] = [
      ['/keys/NEW', key, 'expired'],
      ['/keys/NEXT', { replaces: 'KEY_0', overlap_seconds: 0, expires_at: past }, 'expired'],
      ['/customers/c/grants/g', grant, 'EXPIRED'],
    ];
    const now = { ...key, expires_at: new Date().toISOString() };
    for (const [path, body] of [...late, ['/keys/NEW', now] as const]) {
      const refused = await put(path, body);
      assertErrors(refused, 400, 'INVALID_TIME expires_at');
      assert.match(refused.body.errors[0].detail, /in the future/);
    }
    await store.createKey(keyWithoutLifetime('LATE'), Buffer.alloc(32, 3), byTest);
    const inherited = await put('/keys/NEXT', { replaces: 'LATE', overlap_seconds: 0 });
    assertErrors(inherited, 400, 'INVALID_TIME expires_at');
    assert.match(inherited.body.errors[0].detail, /the new key would have expired already.*give an expiry/);
    for (const id of ['KEY_0', 'LATE']) assert.equal((await send(`/keys/${id}`)).body.key.status, 'active');
    assertErrors(await send('/keys/NEW'), 404, 'NOT_FOUND');

    // What requests like these left when the time was still ahead.
    const by = (action: AuditAction, details = {}) => ({ actor: 'admin-key:ADMIN_ADMIN', action, details });
    const issued = (id: string) => ({ id, last_four: 'abcd', created_at: createdAt });
    await store.createKey({ ...key, ...issued('NEW') }, Buffer.alloc(32, 1), by('keys create'));
    const asked = by('keys rotate', { overlap_seconds: 0, asked_expiry: past });
    await store.createKey({ ...key, ...issued('NEXT') }, Buffer.alloc(32, 2), by('keys rotate'));
    await store.addAudit(asked, 'KEY_0', { new_key_id: 'NEXT' });
    const active = { action: 'CHECKING_BALANCE', status: 'ACTIVE', updated_at: createdAt } as const;
    const whose = { id: 'g', customer_id: 'c', created_at: createdAt };
    await store.createGrant({ ...grant, ...active, ...whose }, by('grants create'));
    for (const [path, body, status] of late) {
      const { status: answered, body: again } = await put(path, body);
      assert.deepEqual([answered, (again.key ?? again.grant)?.status], [200, status]);
    }
  });

  test(`the same request twice at once gets two answers that agree (${engine})`, async (t) => {
    const { put } = await adminScene(t, engine);
    const made = await put('/keys/OLD', { partner_id: 'acme', scopes: ['BRANDS_READ'] });
    keepKeysIn(made.body.secret);
    const twice = async (path: string, body: object) => {
      const answers = await Promise.all([put(path, body), put(path, body)]);
      for (const answer of answers) keepKeysIn(answer.body.secret ?? '');
      return answers.map(({ status }) => status).toSorted();
    };
    assert.deepEqual(await twice('/keys/NEW', { replaces: 'OLD', overlap_seconds: 0 }), [200, 201]);
    assert.deepEqual(await twice('/keys/A', { partner_id: 'acme', scopes: ['BRANDS_READ'] }), [200, 201]);
    assert.deepEqual(await twice('/partners/new', { name: 'New' }), [200, 201]);
    assert.deepEqual(await twice('/partners/new', { name: 'Newer' }), [200, 200]);
    assert.deepEqual(await twice('/customers/c/grants/g', { partner_id: 'acme' }), [200, 201]);
  });

  test(`grants are created, revoked and listed; a customer is erased (${engine})`, async (t) => {
    const { send, put, post, store } = await adminScene(t, engine);
    const path = '/customers/c%2F1/grants/g%201';
    const first = await put(path, { partner_id: 'acme', expires_at: future });
    assert.deepEqual([first.status, first.body.grant.status], [201, 'ACTIVE']);
    assert.equal((await put(path, { partner_id: 'acme', expires_at: future })).status, 200);
    assertErrors(await put(path, { partner_id: 'zenith', expires_at: future }), 409, 'ID_CONFLICT');
    assertErrors(await put(path, { partner_id: 'nobody' }), 400, 'UNKNOWN_PARTNER partner_id');
    const revoked = await post(`${path}/revoke`, { reason: 'asked' }, { role: 'SUPPORT' });
    assert.equal(revoked.body.grant.status, 'REVOKED');
    assert.deepEqual((await post(`${path}/revoke`)).body, revoked.body);
    assertErrors(await put(path, { partner_id: 'acme', expires_at: future }), 409, 'ID_CONFLICT');
    const [listed] = (await send('/grants?customer_id=c%2F1')).body.grants;
    assert.equal(listed.revoked_by, 'admin-key:ADMIN_SUPPORT');
    assertErrors(await post('/customers/c%2F1/grants/nobody/revoke'), 404, 'NOT_FOUND');
    assertErrors(await send('/grants'), 400, 'MISSING_REQUIRED_PARAMETER partner_id');

    const ended = await post('/customers/alice/revoke-grants', undefined, { role: 'SUPPORT' });
    assert.ok(ended.body.grants.length > 0);
    assert.deepEqual((await post('/customers/alice/revoke-grants')).body, { grants: [] });
    const mistaken = await post('/customers/alice/erase', { confirm: 'bob' });
    assertErrors(mistaken, 400, 'CONFIRMATION_MISMATCH confirm');
    const erased = await post('/customers/alice/erase', { confirm: 'alice' });
    assert.equal(erased.body.balances, 3);
    const zeros = { customer_id: 'alice', balances: 0, grants: 0 };
    assert.deepEqual((await post('/customers/alice/erase', { confirm: 'alice' })).body, zeros);
    assertErrors(await post('/customers/nobody/erase', { confirm: 'nobody' }), 404, 'NOT_FOUND');
    const [entry] = await store.listAudit({ action: 'customers erase', limit: 1 });
    assert.equal(entry?.target, 'alice');
  });
}

test('On-Behalf-Of is kept as a claim; a wrong one is refused', async (t) => {
  const { put, store } = await adminScene(t, 'sqlite');
  const headers = { 'on-behalf-of': Buffer.from('Zoë').toString('latin1') };
  await put('/partners/p', { name: 'P' }, { headers });
  const [entry] = await store.listAudit({ limit: 1 });
  assert.equal(entry?.details.on_behalf_of, 'Zoë');
  for (const [name, code] of [
    ['x'.repeat(257), 'VALUE_TOO_LONG'],
    ['', 'VALUE_EMPTY'],
    [Buffer.from('a\u200bb').toString('latin1'), 'INVALID_CHARACTER'],
    // Not UTF-8.
    ['Zo\xeb', 'INVALID_CHARACTER'],
  ] as const) {
    const refused = await put('/partners/q', { name: 'Q' }, { headers: { 'on-behalf-of': name } });
    assertErrors(refused, 400, `${code} On-Behalf-Of`);
    assert.doesNotMatch(refused.body.errors[0].detail, /percent/);
  }
  assert.equal(await store.findPartner('q'), undefined);
});

test('if the database files were moved, every request gets 503, until they are back', async (t) => {
  const { put, batch, send, url } = await adminScene(t, 'sqlite');
  const path = url.slice('sqlite:'.length);
  renameSync(path, `${path}.away`);
  const answers = async () => [
    (await put('/partners/moved', { name: 'Moved' })).status,
    (await send('/partners/acme')).status,
    (await batch('balances', [balance('b')])).status,
  ];
  assert.deepEqual(await answers(), [503, 503, 503]);
  renameSync(`${path}.away`, path);
  assert.deepEqual(await answers(), [201, 200, 200]);
});
