/** The pages of the console: what they show, and what they never show. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { digestOfKey } from '../../../service/src/auth.ts';
import { balances, byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { fromNow, time } from '../../src/console/parts.ts';
import { importValues } from '../../src/ingest/import.ts';
import { engines } from '../admin/scene.ts';
import { consoleScene, fillUse, hourAgo, pagePaths, request_id } from './scene.ts';

for (const engine of engines)
  test(`a partner page says why the partner was refused, by which key, and what goes on (${engine})`, (t) =>
    saysWhyRefused(t, engine));

async function saysWhyRefused(t: TestContext, engine: string) {
  const { as, store } = await consoleScene(t, engine);
  await fillUse(store);
  const old = { partner_id: 'acme', key_id: 'KEY_1', operation: 'listBalances' } as const;
  const [first, last] = [40, 20].map((minutes) => new Date(Date.now() - minutes * 60_000).toISOString());
  await store.recordReceipts(
    [first!, last!].map((at, index) => ({
      ...old,
      at,
      request_id: `0190aaaa-0000-7000-8000-00000000001${index}`,
      outcome: 'INSUFFICIENT_SCOPES',
    })),
  );
  const viewer = await as('VIEWER');
  const { text } = await viewer.get('/console/partners/acme');
  const whole = text.replaceAll('<wbr>', '');
  const rows = whole.split(/<tr|<\/tr>/).map((row) => row.replaceAll(/(?:<[^>]*>|^[^>]*>|\s)+/g, ' ').trim());
  const scope = 'The key does not have the scope that the operation requires.';
  // What goes on is first, although the other code blocked more requests. It says since when it blocks.
  const exact = (at: string | undefined) => `${at!.slice(0, 10)} ${at!.slice(11, 19)}`;
  const refusals = rows
    .filter((row) => row.endsWith('Receipts'))
    .map((row) => row.replaceAll(/ \d+ seconds? ago/g, ''));
  const [now] = /\d{4}-[-\d]+ [:\d]+/.exec(refusals[0]!) ?? [];
  assert.deepEqual(refusals, [
    `GRANT_EXPIRED 403 The named grant has expired. balances KEY_0 ${now} ${now} 7 0 Receipts`,
    `INSUFFICIENT_SCOPES 403 ${scope} balances KEY_1 ${exact(first)} 40 minutes ago ${exact(last)} 20 minutes ago 41 41 Receipts`,
  ]);
  assert.match(text, /href="\/console\/receipts\?partner_id=acme">/);
  assert.match(text, /"Last 24 hours: 41 INSUFFICIENT_SCOPES, 7 GRANT_EXPIRED, 1200 OK"/);
  assert.match(text, /"Last 30 days: 41 INSUFFICIENT_SCOPES, 7 GRANT_EXPIRED, 3 GRANT_REVOKED, 1200 OK"/);
  const key = await viewer.get('/console/keys/KEY_0');
  assert.match(key.text, /"Last 24 hours: 7 GRANT_EXPIRED, 1200 OK"/);
  assert.doesNotMatch(key.text, /INSUFFICIENT_SCOPES/);
  assert.match(key.text, /href="\/console\/receipts\?partner_id=acme&amp;key_id=KEY_0">/);
  const brands = { partner_id: 'acme', key_id: 'KEY_0', operation: 'listBrands', code: 'RATE_LIMITED' };
  await store.recordUsage([{ ...brands, from: hourAgo(0), count: 2 }]);
  assert.match(
    (await viewer.get('/console/keys/KEY_0')).text,
    />brands<[\s\S]*operation=listBrands&amp;outcome=RATE_LIMITED"/,
  );
}

test('a partner page begins with its state, who set it, when and why', async (t) => {
  for (const engine of engines) {
    const { as, store, post } = await consoleScene(t, engine);
    const viewer = await as('VIEWER');
    const state = async () => {
      const { text } = await viewer.get('/console/partners/acme');
      const shown = /<dt>State<\/dt><dd>([\s\S]*?)<\/dd>/.exec(text)?.[1] ?? '';
      return shown
        .replaceAll(/<[^>]*>|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\d+ seconds? (?=ago)/g, '')
        .replaceAll(/\s+/g, ' ');
    };
    assert.equal(await state(), 'enabled');
    await post('/partners/acme/disable', { reason: 'unpaid invoice' }, { role: 'SUPPORT' });
    assert.equal(await state(), 'disabled by SUPPORT, ago (UTC): unpaid invoice');
    await post('/partners/acme/enable', { reason: 'paid' });
    assert.equal(await state(), 'enabled by ADMIN, ago (UTC): paid');
    // An import leaves no entry of this partner: nobody is named for a state that others have changed.
    const [acme] = (await store.partnersWithKeys()).filter(({ id }) => id === 'acme');
    const by = { ...byTest, action: 'partners import' } as const;
    await store.writePartnersWithKeys([{ ...acme!, disabled_at: createdAt }], by, 'keep');
    assert.match(await state(), /^disabled since \d+ (days|months|years) ago \(UTC\)$/);
  }
});

test('a time is shown from now, too, in whole units', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-06-15T12:00:00.000Z') });
  for (const [at, shown] of [
    ['2026-06-15T11:59:58.700Z', '1 second ago'],
    ['2026-06-15T11:57:00.000Z', '3 minutes ago'],
    ['2026-06-15T13:00:00.000Z', 'in 60 minutes'],
    ['2026-06-29T11:59:59.000Z', 'in 14 days'],
    ['2024-08-15T12:00:00.000Z', '22 months ago'],
    ['2024-06-15T12:00:00.000Z', '2 years ago'],
  ])
    assert.equal(fromNow(at!), shown);
  const exact = '<time datetime="2026-06-15T11:57:00.000Z">2026-06-15 11:57:00</time>';
  const shown = time('2026-06-15T11:57:00.000Z').toString();
  assert.equal(shown, `${exact}\n<span class="ago">3 minutes ago</span>`);
});

test('charts have the peak and the slowest answer, and no counts of hours in the future', async (t) => {
  const { as, store } = await consoleScene(t);
  // The first moment of an hour and a day: what is counted in them is not in the future.
  const now = Date.parse('2999-01-01T00:00:00.000Z');
  t.mock.timers.enable({ apis: ['Date'], now });
  const use = { partner_id: 'acme', key_id: 'KEY_0', operation: 'listBalances' };
  await store.recordUsage([
    { ...use, from: hourAgo(0), code: 'GRANT_EXPIRED', count: 7 },
    { ...use, from: hourAgo(-25), code: 'GRANT_REVOKED', count: 3 },
    { ...use, from: hourAgo(0), code: 'OK', count: 9, peak: 4, slowest_ms: 1_812 },
    { ...use, from: hourAgo(2), key_id: 'KEY_1', code: 'OK', count: 2, peak: 1, slowest_ms: 90 },
  ]);
  const { text } = await (await as('VIEWER')).get('/console/partners/acme');
  assert.match(text, /Peak a second, balances: <b>4<\/b>\. Slowest answer, ms: <b>1,812<\/b>\./);
  const [, row = ''] = /<tr role="row">(?:(?!<tr)[\s\S])*?2998-12-31 22:00([\s\S]*?)<\/tr>/.exec(text) ?? [];
  assert.match(
    row,
    /data-label="Peak a second, balances"><div>1<[\s\S]*data-label="Slowest answer, ms"><div>90</,
  );
  assert.match(text, /aria-label="Last 24 hours: 7 GRANT_EXPIRED, 11 OK"/);
  assert.match(text, /aria-label="Last 30 days: 7 GRANT_EXPIRED, 11 OK"/);
  assert.doesNotMatch(text, /GRANT_REVOKED/);
});

test('a customer page leads to the partners that got the balances', async (t) => {
  const { as, store } = await consoleScene(t);
  await fillUse(store);
  const at = new Date().toISOString();
  const operation = 'listBalances';
  const own = { at, operation, partner_id: 'acme', key_id: 'KEY_0', customer_id: 'alice' } as const;
  await store.recordReceipts([{ ...own, request_id: 'granted', outcome: 'GRANTED' }]);
  const viewer = await as('VIEWER');
  const { text } = await viewer.get('/console/customers/alice');
  assert.match(text, /GRANT_EXPIRED[\s\S]*The named grant has expired\./);
  const [, link = ''] = /<a href="([^"]+)"><bdi>Only partners that got the balances/.exec(text) ?? [];
  const only = (await viewer.get(link.replaceAll('&amp;', '&'))).text;
  assert.match(only, /The partner got the balances\./);
  assert.doesNotMatch(only, /The named grant has expired/);
});

for (const engine of engines) {
  test(`a request without a receipt shows its time and the refusals of its minute (${engine})`, async (t) => {
    const { as, store } = await consoleScene(t, engine);
    const own = { partner_id: 'acme', key_id: 'KEY_0', customer_id: 'alice' };
    const of = { ...own, operation: 'listBalances' } as const;
    const receipts = [
      ['2026-11-18T10:41:59.999Z', 'GRANT_EXPIRED'],
      ['2026-11-18T10:42:00.000Z', 'GRANT_REVOKED'],
      ['2026-11-18T10:42:20.000Z', 'GRANTED'],
      ['2026-11-18T10:42:59.999Z', 'INSUFFICIENT_SCOPES'],
      ['2026-11-18T10:43:00.000Z', 'GRANT_NOT_FOUND'],
    ].map(([at, outcome], index) => ({ ...of, at: at!, outcome: outcome!, request_id: idAt(at!, index) }));
    await store.recordReceipts(receipts);
    const viewer = await as('VIEWER');
    const id = idAt('2026-11-18T10:42:31.500Z', 9);
    const { status, text } = await viewer.get(`/console/requests/${id}`);
    assert.equal(status, 404);
    assert.match(text, /Search the log of &quot;partner-network serve&quot; for request_id\./);
    assert.match(text, /Most likely, this was a request for brands that was answered/);
    assert.match(text, /its time \(UTC\): <time datetime="2026-11-18T10:42:31.500Z">2026-11-18 10:42:31</);
    const listed = [...text.matchAll(/\/requests\/([\w-]+)"/g)].map(([, request]) => request);
    assert.deepEqual(listed, [receipts[3]!.request_id, receipts[1]!.request_id]);
    const all = /<a href="([^"]*)"><bdi>All receipts of that minute/.exec(text)![1]!.replaceAll('&amp;', '&');
    const minute = (await viewer.get(all)).text;
    assert.equal([...minute.matchAll(/\/requests\/[\w-]+"/g)].length, 3);
    for (const made of [
      '0b4e7a52-6c1d-4f39-9a80-2d5e8c7f1b36',
      'ffffffff-ffff-7000-8000-000000000000',
      'x',
    ]) {
      const other = await viewer.get(`/console/requests/${made}`);
      assert.equal(other.status, 404);
      assert.match(other.text, /No service made this id: it holds no time of the past\./);
    }
    const { text: refused } = await viewer.get(`/console/requests/${receipts[3]!.request_id}`);
    const said = refused
      .replaceAll('<wbr>', '')
      .replaceAll(/<[^>]*>|\s+/g, ' ')
      .replaceAll(/ +/g, ' ');
    assert.match(said, /403 The key does not have the scope that the operation requires\./);
    assert.match(said, /advised, for example: Use a key with the scope BALANCES_READ\./);
    assert.match(
      said,
      /What was asked Operation balances Partner acme acme Key KEY_0 Customer alice Grant none/,
    );
  });
}

/** The id of a request at this time. */
function idAt(at: string, index: number): string {
  const time = Date.parse(at).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-00000000000${index}`;
}

test('no page shows an amount or metadata', async (t) => {
  const { as, store } = await consoleScene(t);
  await fillUse(store);
  const admin = await as('ADMIN');
  const stored = balances.map(({ amount }) => Math.abs(amount)).filter((amount) => amount !== 0);
  const amounts = stored.flatMap((amount) => [String(amount), amount.toLocaleString('en')]);
  for (const path of [...pagePaths, '/console/customers/zoe', '/console/customers/carol']) {
    const { text } = await admin.get(path);
    assert.deepEqual(
      amounts.filter((amount) => text.includes(amount)),
      [],
      path,
    );
    assert.doesNotMatch(text, /gold|metadata/);
  }
});

test('markup in a stored field is shown, never run', async (t) => {
  const { as, store } = await consoleScene(t);
  const evil = `"><img src=x onerror=alert(1)>'&`;
  const author = { actor: `actor${evil}`, action: 'keys create', reason: `reason${evil}` } as const;
  const partner_id = `partner${evil}`;
  const customer_id = `customer${evil}`;
  const times = { created_at: createdAt, updated_at: createdAt };
  const scopes = ['BRANDS_READ'] as const;
  const key = { id: `key${evil}`, partner_id, name: `name${evil}`, last_four: '<i>"', scopes };
  const active = { action: 'CHECKING_BALANCE', status: 'ACTIVE' } as const;
  const grant = { ...active, id: `grant${evil}`, partner_id, customer_id };
  const brand = { id: `brand${evil}`, name: `name${evil}`, reference_id: `ref${evil}`, ...times };
  await store.createPartner({ id: partner_id, name: `name${evil}`, created_at: createdAt }, author);
  await store.createKey({ ...key, created_at: createdAt }, digestOfKey('x'), author);
  await store.createGrant({ ...grant, ...times }, author);
  await importValues(store, 'brands', [brand], partner_id);
  const details = { source: `s${evil}`, [evil]: evil };
  await store.addAudit({ ...author, action: 'import brands' }, `target${evil}`, details);
  const at = new Date().toISOString();
  const request = { at, request_id, operation: 'listBalances' } as const;
  const receipt = { ...request, partner_id, key_id: key.id, customer_id, grant_id: grant.id };
  await store.recordReceipts([{ ...receipt, outcome: `O${evil}` }]);
  const usage = { from: hourAgo(0), partner_id, key_id: key.id, operation: evil, code: `C${evil}`, count: 1 };
  await store.recordUsage([usage]);
  const admin = await as('ADMIN');
  const to = (...parts: string[]) => ['/console', ...parts.map(encodeURIComponent)].join('/');
  const pages = [
    '/console',
    '/console/audit',
    '/console/data',
    '/console/receipts',
    to('requests', request_id),
    to('partners', partner_id),
    to('keys', key.id),
    to('customers', customer_id),
    to('brands', partner_id, brand.id),
    to('partners', partner_id, 'rename'),
    to('keys', key.id, 'revoke'),
    to('customers', customer_id, 'grants', grant.id, 'revoke'),
    to('customers', customer_id, 'erase'),
    `/console/audit?target=${encodeURIComponent(evil)}`,
  ];
  const texts = [];
  for (const path of pages) {
    const { status, text } = await admin.get(path);
    assert.equal(status, path === pages.at(-1) ? 400 : 200, path);
    texts.push(text);
  }
  texts.push((await admin.post('/console/search', { id: `no${evil}` })).text);
  texts.push((await admin.post(`${to('partners', partner_id)}/rename`, { name: evil, reason: '' })).text);
  for (const [index, text] of texts.entries()) {
    assert.doesNotMatch(text, /<img|onerror=alert\(1\)>/, pages[index]);
    if (index > 0)
      assert.match(text, /&quot;&gt;&lt;img src=x onerror=alert\(1\)&gt;'&amp;|%3E%3Cimg/, pages[index]);
  }
});

test('every list of an empty database says what to do', async (t) => {
  const { as } = await consoleScene(t);
  const viewer = await as('VIEWER');
  const lists = {
    '/console/customers/nobody': [/No grant: /, /No receipt: /],
    '/console/partners/closed': [/Nothing was refused/, /No answers\./, /No grant\. /],
    '/console/receipts': [/No receipt with these filters\. Answered requests for brands /],
    '/console/audit?until=2020-01-01T00:00': [/No change with these filters\./],
    '/console/data': [/Nothing was imported yet\./],
  };
  for (const [path, said] of Object.entries(lists)) {
    const { text } = await viewer.get(path);
    for (const sentence of said) assert.match(text, sentence, path);
  }
});

test('console.md names headings, fields, buttons and links as the pages do', async (t) => {
  const { as, store } = await consoleScene(t);
  await fillUse(store);
  const admin = await as('ADMIN');
  const answers = [...pagePaths, '/console/keys/KEY_0/revoke'].map((path) => admin.get(path));
  const texts = (await Promise.all(answers)).flatMap(({ text }) => text.split(/<[^>]*>/));
  const shown = new Set(texts.map((text) => text.trim()));
  const file = new URL('../../../../docs/how-to/operators/console.md', import.meta.url);
  const guide = readFileSync(file, 'utf8');
  const bold = [...guide.matchAll(/\*\*([^*]+)\*\*/g)].map(([, label]) => label!.replaceAll('\n', ' '));
  const labels = bold.filter((label) => !/^\d\.$/.test(label));
  assert.ok(labels.length > 15, labels.join());
  assert.deepEqual(
    labels.filter((label) => !shown.has(label)),
    [],
  );
});
