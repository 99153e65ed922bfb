/** The filters of receipts and of the audit log: what they take, and what they say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOfKey } from '../../../service/src/auth.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { consoleScene, fillUse, request_id } from './scene.ts';

const textOf = (markup: string) => markup.replaceAll(/<[^>]*>/g, '').trim();

/** What is said beside each field that is marked as wrong, by the name of the field. */
function wrongIn(page: string): Record<string, string> {
  const said = [...page.matchAll(/<p class="wrong" id="wrong-(\w+)">(.*?)<\/p>/gs)];
  for (const [, name] of said)
    assert.match(
      page,
      new RegExp(`name="${name}"[^>]* aria-invalid="true" aria-describedby="wrong-${name}"`),
    );
  return Object.fromEntries(said.map(([, name, text]) => [name, textOf(text!)]));
}

const partner = (id: string, name: string) => ({ id, name, created_at: createdAt });

for (const engine of ['sqlite', 'postgres']) {
  test(`a filter takes a name or an id, and says what fits nothing (${engine})`, async (t) => {
    const { as, store } = await consoleScene(t, engine);
    await fillUse(store);
    const partners = [
      partner(' blank', 'Bluebird Travel'),
      partner('twin-1', 'Twin'),
      partner('twin-2', 'Twin'),
    ];
    for (const each of partners) await store.createPartner(each, byTest);
    const key = {
      id: 'KEY_SHOP',
      partner_id: 'acme',
      name: 'Shop',
      last_four: 'abcd',
      created_at: createdAt,
    };
    await store.createKey({ ...key, scopes: ['BRANDS_READ'] }, digestOfKey('shop'), byTest);
    const viewer = await as('VIEWER');

    const taken = {
      'receipts?partner_id=+ACME&outcome=grant_expired&customer_id=alice+': /requests\/0190aaaa/,
      'receipts?partner_id=+blank': /No receipt/,
      'receipts?partner_id=bluebird+travel': /No receipt/,
      'receipts?partner_id=Bluebird': /<p class="hint"><bdi> blank<[\s\S]*No receipt/,
      'receipts?partner_id=acme&key_id=shop': /No receipt/,
      'receipts?key_id=KEY_0&operation=balances': /requests\/0190aaaa/,
      'receipts?operation=listBrands': /No receipt/,
      'audit?actor=TESTER@test': /<td[^>]*>.*tester@test</,
      'audit?target=bluebird+travel': /partners\/%20blank|> blank</,
      'audit?target=shop': /KEY_SHOP/,
      'audit?target=alice': /No change/,
      'audit?target=zenith&action=Keys+revoke': /No change/,
    };
    for (const [query, list] of Object.entries(taken)) {
      const { status, text } = await viewer.get(`/console/${query}`);
      assert.equal(status, 200, query);
      assert.match(text, list, query);
    }

    const wrong = {
      'receipts?partner_id=Bluebrd': 'No partner is called Bluebrd. Bluebird Travel ( blank)?',
      'receipts?partner_id=zenitt': 'No partner is called zenitt. zenith?',
      'receipts?partner_id=Travl': 'No partner is called Travl. Bluebird Travel ( blank)?',
      'receipts?partner_id=xyzzy': 'No partner is called xyzzy.',
      'receipts?partner_id=twin': '2 have the name twin: Twin (twin-1)? Twin (twin-2)?',
      'receipts?key_id=KEY_0&partner_id=zenith': 'No key with these filters is called KEY_0. KEY_8?',
      'receipts?key_id=Shop&partner_id=zenith': 'No key with these filters is called Shop.',
      'receipts?customer_id=nobody': 'No customer with a grant or a receipt is called nobody.',
      'receipts?outcome=GRANT_EXPIRD': 'No outcome is called GRANT_EXPIRD. GRANT_EXPIRED?',
      'receipts?operation=brnds': 'No operation is called brnds. brands (listBrands)?',
      'audit?actor=testr@test': 'No person or key is called testr@test. tester@test?',
      'audit?target=bluebrd': 'No partner, key or customer is called bluebrd. Bluebird Travel ( blank)?',
      'audit?action=customers+erse': 'No action is called customers erse. customers erase?',
      'audit?since=soon': 'Write a time in UTC such as 2026-01-31T08:00.',
      'audit?since=9999-01-01T00:00': 'From is in the future: choose an earlier time.',
      'audit?until=2026-01-02T00:00&since=2026-01-02T00:00': 'Before is not after From: choose a later time.',
    };
    for (const [query, said] of Object.entries(wrong)) {
      const { status, text } = await viewer.get(`/console/${query}`);
      assert.equal(status, 400, query);
      assert.deepEqual(wrongIn(text), { [/\?(\w+)/.exec(query)![1]!]: said }, query);
      assert.doesNotMatch(text, /No receipt with|No change with|<table/, query);
      for (const [name, value] of new URLSearchParams(query.split('?')[1]))
        if (!['outcome', 'operation', 'action'].includes(name))
          assert.match(text, new RegExp(`name="${name}"[^>]*value="${value}"`), query);
    }
  });
}

test('a filter with an invisible character is refused before the database sees it', async (t) => {
  const { as } = await consoleScene(t, 'postgres');
  const { status, text } = await (await as('VIEWER')).get('/console/receipts?partner_id=%00');
  assert.equal(status, 400);
  assert.match(text, /Send partner_id as percent-encoded UTF-8/);
});

test('a choice beside a wrong value keeps the other filters', async (t) => {
  const { as, store } = await consoleScene(t);
  await fillUse(store);
  const viewer = await as('VIEWER');
  const { text } = await viewer.get('/console/receipts?partner_id=acne&key_id=KEY_0&cursor=old');
  const [, choice = ''] = /called acne\. <a href="([^"]*)">acme</.exec(text) ?? [];
  assert.equal(choice, '/console/receipts?partner_id=acme&amp;key_id=KEY_0');
  assert.match((await viewer.get(choice.replace('&amp;', '&'))).text, new RegExp(request_id));
});

test('a preset is a span in UTC, which is written out and kept on further pages', async (t) => {
  const { as, store } = await consoleScene(t);
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2999-11-18T23:45:10.500Z') });
  const own = { partner_id: 'acme', key_id: 'KEY_0', outcome: 'GRANTED' };
  const receipt = { ...own, operation: 'listBalances' } as const;
  const at = (index: number) => `2999-11-17T00:00:00.${String(index).padStart(3, '0')}Z`;
  const ids = Array.from({ length: 60 }, (_, index) => request_id.slice(0, -2) + String(index + 10));
  await store.recordReceipts(ids.map((id, index) => ({ ...receipt, request_id: id, at: at(index) })));
  const viewer = await as('VIEWER');
  const spans = {
    hour: '2999-11-18 22:45 to 2999-11-18 23:46 UTC',
    today: '2999-11-18 00:00 to 2999-11-19 00:00 UTC',
    week: '2999-11-12 00:00 to 2999-11-19 00:00 UTC',
    yesterday: '2999-11-17 00:00 to 2999-11-18 00:00 UTC',
  };
  let next = '';
  for (const [span, said] of Object.entries(spans)) {
    const { text } = await viewer.get(`/console/receipts?partner_id=acme&span=${span}`);
    assert.match(text, new RegExp(`<p class="hint">${said}</p>`));
    assert.match(text, new RegExp(`<button name="span" value="${span}" aria-current="true">`));
    next = /<a href="([^"]+)">Next page/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  }
  t.mock.timers.tick(3_600_000);
  const last = (await viewer.get(next)).text;
  assert.match(last, /<p class="hint">2999-11-17 00:00 to 2999-11-18 00:00 UTC<\/p>/);
  assert.equal([...last.matchAll(/\/requests\//g)].length, 10);
  const { text } = await viewer.get('/console/audit?since=2026-01-01T08:00:30');
  assert.match(text, /<p class="hint">2026-01-01 08:00:30 to now \(UTC\)<\/p>/);
});

for (const engine of ['sqlite', 'postgres']) {
  test(`with 10,000 partners, filters and Find are fast, and the page lists none (${engine})`, async (t) => {
    const { as, execute } = await consoleScene(t, engine);
    await execute(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 10000)
      insert into partners (id, name, created_at) select 'P' || i, 'Shop ' || i, '${createdAt}' from n`);
    const viewer = await as('VIEWER');
    for (const query of ['partner_id=shop+9876', 'partner_id=Shp+98', 'key_id=key+123', 'target=x']) {
      const start = performance.now();
      const { text } = await viewer.get(`/console/${query.startsWith('t') ? 'audit' : 'receipts'}?${query}`);
      const ms = performance.now() - start;
      assert.ok(ms < 2_000, `${query}: ${Math.round(ms)} ms`);
      assert.ok(text.length < 12_000, `${query}: ${text.length} characters`);
    }
    const { text } = await viewer.post('/console/search', { id: 'shop 98' });
    assert.match(text, />1 to 50 of 111 hits are shown/);
    assert.match(text, /<tbody role="rowgroup">\s*<tr[^>]*>.*?partners\/P98"/);
  });
}
