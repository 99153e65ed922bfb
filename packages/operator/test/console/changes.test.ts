/** Changes in the console: who may make them, what they ask, and what they leave behind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AdminOperationId, adminOperations } from '@partner-network/contract/admin/operations';
import { mayUse } from '@partner-network/contract/permissions';
import { digestOfKey } from '../../../service/src/auth.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { keepKeysIn } from '../../../testkit/watch/logs.ts';
import { consoleScene } from './scene.ts';

/** Each change with the page that offers it, and fields that it takes. */
const changes: readonly [AdminOperationId, page: string, path: string, fields?: Record<string, string>][] = [
  ['disablePartner', '/partners/acme', '/partners/acme/disable'],
  ['enablePartner', '/partners/closed', '/partners/closed/enable'],
  ['putPartner', '/partners/acme', '/partners/acme/rename', { name: 'Acme & Söhne' }],
  ['putLimits', '/partners/acme', '/partners/acme/limit', { brands: '20', balances: '' }],
  ['putKey', '/partners/acme', '/partners/acme/create-key', { new_id: 'KEY_NEW', scopes: 'BRANDS_READ' }],
  ['putKey', '/keys/KEY_1', '/keys/KEY_1/rotate', { new_id: 'KEY_NEXT', overlap_seconds: '3600' }],
  ['revokeKey', '/keys/KEY_2', '/keys/KEY_2/revoke'],
  ['revokeGrant', '/customers/alice', '/customers/alice/grants/g-active/revoke'],
  ['revokeGrants', '/customers/alice', '/customers/alice/revoke-grants'],
  ['eraseCustomer', '/customers/carol', '/customers/carol/erase', { confirm: 'carol' }],
];

test('a change is offered to its roles only, and others get 403', async (t) => {
  const { as } = await consoleScene(t);
  for (const role of ['VIEWER', 'SUPPORT', 'ADMIN'] as const) {
    const browser = await as(role);
    for (const [id, page, path, fields] of changes) {
      const isAllowed = mayUse(role, adminOperations[id].permission);
      const { text } = await browser.get(`/console${page}`);
      assert.equal(text.includes(`href="/console${path}"`), isAllowed, `${role} ${path}`);
      assert.equal((await browser.get(`/console${path}`)).status, isAllowed ? 200 : 403);
      if (isAllowed) continue;
      const helper = adminOperations[id].permission === 'SUPPORT' ? 'SUPPORT or an ADMIN' : 'an ADMIN';
      assert.match(text, new RegExp(`Ask ${helper} to \\w`));
      const sent = await browser.post(`/console${path}`, { reason: 'all the same', ...fields });
      assert.equal(sent.status, 403);
      assert.match(sent.text, new RegExp(`this key has the role ${role}`));
    }
  }
});

test('every change says what will happen, needs a reason, and leaves it in the audit log', async (t) => {
  const { as, store } = await consoleScene(t);
  const admin = await as('ADMIN');
  for (const [index, [, , path, fields = {}]] of changes.entries()) {
    const asked = await admin.get(`/console${path}`);
    assert.match(asked.text, /<div class="effects[^>]*><p>.+<\/p>\s*<ul><li>/);
    assert.match(asked.text, /id="reason" name="reason" required maxlength="256"/);
    const [before] = await store.listAudit({ limit: 1 });
    const wrong = ['', '  ', '\u202e', 'x'.repeat(257), `it was ${keys.acme}`];
    // The API checks the reason of every change alike.
    for (const reason of index === 0 ? wrong : ['']) {
      const refused = await admin.post(`/console${path}`, { ...fields, reason });
      assert.equal(refused.status, 400, `${path} ${reason}`);
      assert.match(refused.text, /<div class="errors" role="alert"><ul><li>/);
    }
    assert.deepEqual(await store.listAudit({ limit: 1 }), [before], 'nothing was changed');
    const done = await admin.post(`/console${path}`, { ...fields, reason: `Ticket <${index}>` });
    assert.ok([200, 303].includes(done.status), `${path}: ${done.text}`);
    const [entry] = await store.listAudit({ limit: 1 });
    assert.equal(entry?.actor, 'admin-key:ADMIN_ADMIN');
    assert.equal(entry?.details.reason, `Ticket <${index}>`);
    const [, verb = ''] = /\/([a-z]+)[a-z-]*$/.exec(path) ?? [];
    assert.match(entry?.action ?? '', new RegExp(verb));
    if (done.status === 303) {
      const result = await admin.get(done.to);
      assert.match(result.text, /<p class="notice" role="status">[^<]+(?:is|has|are|were) [^<]+\.<\/p>/);
    }
  }
});

test('the sentence about a result cannot be made by a link', async (t) => {
  const { as } = await consoleScene(t);
  const admin = await as('ADMIN');
  const support = await as('SUPPORT');
  const done = await support.post('/console/keys/KEY_2/revoke', { reason: 'x' });
  assert.match((await support.get(done.to)).text, /The key is revoked\./);
  assert.doesNotMatch((await admin.get(done.to)).text, /The key is revoked\./);
  assert.doesNotMatch((await support.get('/console/keys/KEY_0?done=The+key+is+revoked.')).text, /The key is/);
});

test('a new key is shown once, in the answer to its form, and works', async (t) => {
  const { as, store } = await consoleScene(t);
  const admin = await as('ADMIN');
  const path = '/console/partners/acme/create-key';
  const asked = (await admin.get(path)).text;
  const [, new_id = ''] = /name="new_id" value="(KEY_\w+)"/.exec(asked) ?? [];
  assert.doesNotMatch(asked, /checked/, 'no scope is chosen yet');
  const fields = { new_id, scopes: 'BRANDS_READ', reason: 'new', expires_at: '2999-01-01T00:00', name: 'a' };
  const created = await admin.post(path, fields);
  const [secret = ''] = /pn_test_\w+/.exec(created.text) ?? [];
  keepKeysIn(secret);
  assert.deepEqual([created.status, created.headers.get('cache-control')], [200, 'no-store']);
  assert.equal((await store.findKey(digestOfKey(secret)))?.id, new_id);
  assert.equal((await store.findKeyById(new_id))?.expires_at, '2999-01-01T00:00:00.000Z');
  const again = await admin.post(path, fields);
  assert.match(again.text, /exists already/);
  const rotation = { overlap_seconds: '0', reason: 'old' };
  const rotated = await admin.post(`/console/keys/${new_id}/rotate`, { ...rotation, new_id: 'KEY_R' });
  keepKeysIn(rotated.text);
  assert.match(rotated.text, /<code class="secret" translate="no">pn_test_\w{49}<\/code>/);
  const key = await admin.get(`/console/keys/${new_id}`);
  const later = await admin.post('/console/keys/KEY_0/rotate', {
    ...{ overlap_seconds: '3600', reason: 'soon', new_id: 'KEY_LATER' },
  });
  keepKeysIn(later.text);
  for (const [text, said] of [
    [asked, /An empty field means never\./],
    [created.text, /<dt>Expires \(UTC\)<\/dt><dd><time datetime="2999-/],
    [
      later.text,
      /works until \(UTC\)[\s\S]*in (?:60 minutes|3600 seconds)<\/span> <a href="\/console\/keys\/KEY_0">/,
    ],
    [key.text, /<dt>Replaced by<\/dt><dd><a href="\/console\/keys\/KEY_R">/],
    [key.text, /<dt>Created by<\/dt><dd><bdi>ADMIN<\/bdi>/],
    [(await admin.get('/console/keys/KEY_0')).text, /Only an active key without a newer one can be rotated/],
  ] as const)
    assert.match(text, said);
  assert.doesNotMatch((await admin.get('/console/keys/KEY_0')).text, /\/rotate"/);
  for (const { text } of [again, key, await admin.get('/console/audit')]) {
    assert.doesNotMatch(text, /pn_test_\w/);
  }
});

test('the page of a grant that is revoked names its partner and what this partner keeps', async (t) => {
  const { as } = await consoleScene(t);
  const support = await as('SUPPORT');
  const { text } = await support.get('/console/customers/alice/grants/g-active/revoke');
  assert.match(text, /for partner <code><bdi>acme<[\s\S]*The partner has \d other active grants? of this/);
  await support.post('/console/customers/alice/revoke-grants', { reason: 'all' });
  const after = (await support.get('/console/customers/alice')).text;
  assert.doesNotMatch(after.split('<h2>Changes')[0]!, /Revoke all grants|admin-key:/);
  assert.match(after, /<span class="ago">[^<]*<\/span> <bdi>SUPPORT<\/bdi>/);
});

test('a mistake leads back to the form, with all that was written except keys', async (t) => {
  const { as, store } = await consoleScene(t);
  const admin = await as('ADMIN');
  const before = await store.listAudit({ limit: 1 });
  const late = { new_id: 'KEY_LATE', overlap_seconds: '0', expires_at: '2026-01-01T00:00' };
  const kept = /<li>[^<]*in the future.*<\/li>[\s\S]*name="expires_at"[^>]*value="2026-01-01T00:00"/;
  const mistakes: readonly (readonly [path: string, fields: Record<string, string>, said: RegExp])[] = [
    ['/partners/acme/rename', { name: '  ' }, /<li>Write a name\.<\/li>/],
    ['/partners/acme/disable', { reason: `by ${keys.acme}` }, /name="reason"[^>]*value=""/],
    [
      '/partners/acme/limit',
      { brands: '0', balances: '7' },
      /<li>[^<]*at least 1[^<]*\(brands\)[\s\S]*value="7"/,
    ],
    ['/partners/acme/limit', { brands: 'many' }, /<li>[^<]*whole number[^<]*\(brands\)/],
    ['/partners/acme/create-key', { ...late, scopes: 'BRANDS_READ' }, kept],
    ['/partners/acme/create-key', { new_id: 'K' }, /<li>Choose at least one scope\.<\/li>/],
    ['/keys/KEY_0/rotate', late, kept],
    ['/keys/KEY_4/rotate', { new_id: 'KEY_S', overlap_seconds: '0' }, /<li>[^<]*is revoked/],
    ['/customers/alice/erase', { confirm: 'zoe' }, /another id than[\s\S]*name="reason"[^>]*value="asked"/],
  ];
  for (const [path, fields, said] of mistakes) {
    const refused = await admin.post(`/console${path}`, { reason: 'asked', ...fields });
    assert.ok([400, 409].includes(refused.status), `${path}: ${refused.status}`);
    assert.match(refused.text, said, path);
    assert.doesNotMatch(refused.text, /pn_test_/);
  }
  // An empty field is not 0, which would revoke the old key now.
  for (const overlap of [{}, ...['', ' ', '0x10', 'x'].map((overlap_seconds) => ({ overlap_seconds }))]) {
    const fields = { new_id: 'KEY_BLANK', reason: 'x', ...overlap };
    assert.equal((await admin.post('/console/keys/KEY_0/rotate', fields)).status, 400);
  }
  const unknown = await admin.post('/console/customers/nobody/erase', { reason: 'x', confirm: 'nobody' });
  assert.equal(unknown.status, 404);
  assert.deepEqual(await store.listAudit({ limit: 1 }), before);
  const done = await admin.post('/console/customers/alice/erase', { reason: 'asked', confirm: 'alice' });
  assert.match((await admin.get(done.to)).text, /3 balances and 6 grants were deleted\./);
});

test('the page of a new key says whether it works', async (t) => {
  const { as } = await consoleScene(t);
  const admin = await as('ADMIN');
  const shown = async (path: string) => {
    const new_id = `KEY_${path.replaceAll(/\W/g, '_')}`;
    const fields = { new_id, scopes: 'BRANDS_READ', overlap_seconds: '0', reason: 'x' };
    const { text } = await admin.post(path, fields);
    keepKeysIn(text);
    const [said] = /(?<=<p class="notice" role="status">)The key (?:works|does not work)[^.]*/.exec(text)!;
    assert.match(text, /<code class="secret"/);
    return said;
  };
  assert.equal(await shown('/console/keys/KEY_0/rotate'), 'The key works now');
  for (const path of ['/console/partners/closed/create-key', '/console/keys/KEY_7/rotate']) {
    const { text } = await admin.get(path);
    assert.match(text, /does not work while the partner is disabled\./);
    assert.doesNotMatch(text, /works (?:now|at once)/);
    assert.equal(await shown(path), 'The key does not work while the partner is disabled');
  }
});

test('a form by hand creates no key without a page', async (t) => {
  const admin = await (await consoleScene(t)).as('ADMIN');
  for (const new_id of ['', '.', '..', 'find', 'KEY_a/b']) {
    const fields = { scopes: 'BRANDS_READ', reason: 'x', new_id };
    const created = await admin.post('/console/partners/acme/create-key', fields);
    keepKeysIn(created.text);
    assert.match(created.text, /href="\/console\/keys\/KEY_[0-9a-f]{32}"/, new_id);
  }
});
