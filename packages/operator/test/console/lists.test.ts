/** The audit log, imports and batches, and the checks of doctor in the console. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
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
  assert.equal((await viewer.get('/console/audit?since=yesterday')).status, 400);
  for (const list of ['audit', 'receipts']) {
    const { status, text } = await viewer.get(`/console/${list}?since=9999-01-01T00:00`);
    assert.equal(status, 200);
    assert.match(text, /From is in the future: choose an earlier time\./);
  }
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
  const sources = [...(first + second).matchAll(/<bdi>s(\d+)<\/bdi>/g)].map(([, source]) => Number(source));
  const expected = Array.from({ length: 80 }, (_, index) => 79 - index).filter((index) => index % 4 !== 3);
  assert.deepEqual(sources, expected);
  assert.match(first, /Batches of balances/);
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
