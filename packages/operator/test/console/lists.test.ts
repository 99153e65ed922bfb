/** The audit log, imports and batches, and the checks of doctor in the console. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AuditAction, auditActions } from '../../../store/src/port.ts';
import { engines } from '../admin/scene.ts';
import { consoleScene } from './scene.ts';

/** The address of the next page. */
const nextOf = (page: string) => /<a href="([^"]+)">Next page/.exec(page)?.[1]?.replaceAll('&amp;', '&');

test('the audit log is filtered and paged', async (t) => {
  const { as, store } = await consoleScene(t);
  for (let index = 0; index < 120; index += 1) {
    await store.addAudit({ actor: 'ops@host', action: 'import brands' }, 'many', { index });
  }
  const viewer = await as('VIEWER');
  const filtered = '/console/audit?target=many&actor=&since=2020-01-01T00%3A00&until=';
  const seen: string[] = [];
  for (let next: string | undefined = filtered; next !== undefined; ) {
    const { status, text } = await viewer.get(next);
    assert.equal(status, 200, text);
    seen.push(...[...text.matchAll(/<b>index<\/b> <bdi>(\d+)/g)].map(([, index]) => index!));
    assert.doesNotMatch(text, /in the future/);
    next = nextOf(text);
  }
  const all = Array.from({ length: 120 }, (_, index) => 119 - index);
  assert.equal(seen.join(), all.join());
});

test('data lists imports, feeds and batches of all kinds, newest first, on pages', async (t) => {
  const { as, store } = await consoleScene(t);
  const actions = ['import brands', 'batch balances', 'import grants', 'keys revoke'] as const;
  for (let index = 0; index < 80; index += 1) {
    const details = { source: `s${index}`, written: index, ...(index === 79 && { feed: 'hour' }) };
    await store.addAudit({ actor: 'ops@host', action: actions[index % 4]! }, 'brands', details);
  }
  const viewer = await as('VIEWER');
  const first = (await viewer.get('/console/data')).text;
  const second = (await viewer.get(nextOf(first)!)).text;
  const lists = [first, second].map((page) => page.split('Newest first.')[1]).join();
  const sources = [...lists.matchAll(/ from <bdi>s(\d+)<\/bdi>/g)].map(([, source]) => Number(source));
  const expected = Array.from({ length: 80 }, (_, index) => 79 - index).filter((index) => index % 4 !== 3);
  assert.deepEqual(sources, expected);
  assert.match(first, /imported balances of <a [^>]*><code><bdi>brands</);
});

test('health shows the checks of doctor in its words', async (t) => {
  const { as } = await consoleScene(t);
  const { text } = await (await as('VIEWER')).get('/console/health');
  assert.match(text, /The database belongs to sandbox\./);
  assert.match(text, /The database has the current schema, \d+\./);
  assert.match(text, /The newest cursor key is 0 days old\./);
  for (const name of ['disk', 'database', 'privileges', 'nodes', 'clock', 'keys', 'cursor keys']) {
    assert.match(text, new RegExp(`<div>${name}</div>`));
  }
});

test('an entry of the audit log reads as a sentence, with names that are links', async (t) => {
  for (const engine of engines) {
    const { as, store } = await consoleScene(t, engine);
    const by = { actor: 'admin-key:ADMIN_SUPPORT', reason: 'leaked in a repository' };
    const partner_id = 'acme';
    const customer_id = 'alice';
    const lines = { source: 'ledger-1', written: 1200, unchanged: 0, stale: 2, deleted: 0, rejected: 0 };
    const evil = '<i>"';
    const said: readonly (readonly [
      AuditAction,
      target: string,
      details: Readonly<Record<string, unknown>>,
      sentence: string,
    ])[] = [
      ['keys revoke', 'KEY_2', { partner_id }, 'revoked KEY_2 of Northwind Market'],
      [
        'keys create',
        'KEY_2',
        { partner_id, scopes: ['BRANDS_READ'] },
        'created KEY_2 of Northwind Market for BRANDS_READ',
      ],
      [
        'keys rotate',
        'KEY_2',
        { partner_id, new_key_id: 'KEY_3' },
        'replaced KEY_2 of Northwind Market by KEY_3',
      ],
      ['partners disable', 'acme', {}, 'disabled Northwind Market'],
      ['partners enable', 'gone', {}, 'enabled gone'],
      ['partners rename', 'acme', { from: evil, to: 'B' }, 'renamed Northwind Market from &lt;i>&quot; to B'],
      [
        'partners limit',
        'acme',
        { from: { brands: 20 }, to: { brands: 20, balances: 7 } },
        'set the limits of Northwind Market from brands 20, balances default to brands 20, balances 7',
      ],
      [
        'partners import',
        'partners',
        { created: { partners: 1, keys: 2 }, changed: { partners: 0, keys: 0 } },
        'imported partners and keys: 1 partner, 2 keys new, none changed',
      ],
      [
        'admin-keys create',
        'A',
        { role: 'SUPPORT' },
        'created the administrative key A with the role SUPPORT',
      ],
      [
        'grants create',
        'g',
        { partner_id, customer_id },
        'gave Northwind Market the grant g of the customer alice',
      ],
      [
        'grants revoke',
        'g',
        { partner_id, customer_id },
        'revoked the grant g of the customer alice for Northwind Market',
      ],
      ['grants revoke', 'alice', { grants: ['g', 'h'] }, 'revoked 2 grants of the customer alice'],
      ['customers erase', 'alice', { balances: 1, grants: 0 }, 'erased the customer alice (1 balance)'],
      [
        'import brands',
        'acme',
        lines,
        'imported brands of Northwind Market from ledger-1 (1,200 written, 2 stale)',
      ],
      ['import balances', 'balances', { feed: 'start', source: 'l' }, 'began to import balances from l'],
      [
        'batch grants',
        'grants',
        { source: 'administrative API', batches: 3, written: 1 },
        'sent 3 batches of grants from administrative API (1 written)',
      ],
      ['console sign-in', 'console', { outcome: 'refused' }, 'tried to sign in to the console'],
    ];
    await store.renamePartner('acme', 'acme', 'Northwind Market', { ...by, action: 'partners rename' });
    for (const [action, target, details] of said) await store.addAudit({ ...by, action }, target, details);
    const { text } = await (await as('VIEWER')).get('/console/audit');
    const rows = text.split('<tr role="row">').slice(2);
    const shown = rows.map((row) => row.split('data-label="Change"')[1]!.split('</td>')[0]!);
    const words = shown.map((cell) =>
      cell
        .slice(1)
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll(/\s+/g, ' ')
        .replaceAll('&gt;', '>')
        .trim(),
    );
    const expected = said.map(([, , , sentence]) => `SUPPORT ${sentence}: leaked in a repository`);
    assert.deepEqual(words.slice(0, said.length), expected.toReversed());
    assert.match(
      shown[said.length - 1]!,
      /href="\/console\/keys\/KEY_2">[\s\S]*href="\/console\/partners\/acme">/,
    );
    assert.match(rows[said.length - 1]!, /<details><summary>Details<\/summary>.*<b>reason<\/b>/);
  }
});

test('an entry of any action is shown, whatever its details are', async (t) => {
  const { as, store } = await consoleScene(t);
  const odd = {
    written: 'many',
    batches: null,
    before: 'x',
    usage: 3,
    feed: 'end',
    scopes: 1,
    partner_id: 1,
  };
  for (const action of [...Object.keys(auditActions), 'constructor', '__proto__', 'later {constructor}'])
    for (const details of [
      {},
      odd,
      { from: null, to: 'x', grants: {}, duration_ms: -1, deleted: -1, created: null },
    ])
      await store.addAudit({ actor: 'ops@host', action: action as AuditAction }, '..', details);
  const viewer = await as('VIEWER');
  const paths = ['/console', '/console/data', '/console/audit'];
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
    const { status, text } = await viewer.get(path);
    assert.equal(status, 200, path);
    assert.doesNotMatch(text, /NaN|undefined|answerss/);
    paths.push(...[nextOf(text)].filter((next) => next !== undefined));
  }
});

test('the first page is shown with any word to sort by', async (t) => {
  const viewer = await (await consoleScene(t)).as('VIEWER');
  for (const sort of ['constructor', '__proto__', 'toString'])
    assert.equal((await viewer.get(`/console?sort=${sort}`)).status, 200, sort);
});

test('a page after the last one does not say that nobody was read', async (t) => {
  const viewer = await (await consoleScene(t)).as('VIEWER');
  const { text } = await viewer.get('/console/receipts/customers?cursor=9');
  assert.match(text, /No customer on this page/);
  assert.doesNotMatch(text, /No receipt of balances/);
});
