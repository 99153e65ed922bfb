/** Downloads of receipts, the audit log and usage. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { adminBounds } from '../../../common/src/bounds/operator.ts';
import { createdAt } from '../../../testkit/fixtures/fixture.ts';
import { download } from '../../src/console/pages/downloads.ts';
import type { Visit } from '../../src/console/visit.ts';
import { engines } from '../admin/scene.ts';
import { consoleScene, hourAgo } from './scene.ts';

const count = adminBounds.downloadedAtOnce + 7;

for (const engine of engines) {
  test(`downloads have the same records as the page, each once (${engine})`, async (t) => {
    const { as, store } = await consoleScene(t, engine);
    for (let index = 0; index < count; index += 1)
      await store.addAudit({ actor: 'ops@host', action: 'import brands' }, 'many', { index });
    await store.addAudit({ actor: 'ops@host', action: 'import brands' }, 'other', {});
    const startMs = Date.parse(createdAt);
    const who = { partner_id: 'acme', key_id: 'KEY_0', operation: 'listBalances' } as const;
    const receipts = Array.from({ length: count }, (_, index) => ({
      ...who,
      at: new Date(startMs + index).toISOString(),
      request_id: `0190aaaa-0000-7000-8000-${String(index).padStart(12, '0')}`,
      customer_id: index === 3 ? '=HYPERLINK("a";"b"),\n' : 'alice',
      outcome: index % 2 === 0 ? 'GRANTED' : 'GRANT_REVOKED',
    }));
    await store.recordReceipts(receipts);
    await store.recordUsage([{ ...who, from: hourAgo(1), code: 'OK', count: 12 }]);
    const viewer = await as('VIEWER');

    const page = (await viewer.get('/console/audit?target=many&actor=&since=2020-01-01T00%3A00')).text;
    const [, link = ''] = /href="(\/console\/audit\.jsonl[^"]*)"/.exec(page) ?? [];
    const audit = await viewer.get(link.replaceAll('&amp;', '&'));
    const name = audit.headers.get('content-disposition');
    assert.match(name!, /^attachment; filename="sandbox-audit-many-2020-01-01T00_00_00[\w.-]+\.jsonl"$/);
    assert.equal(audit.headers.get('cache-control'), 'no-store');
    const indices = audit.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).details.index);
    assert.deepEqual(
      indices,
      Array.from({ length: count }, (_, index) => count - 1 - index),
    );

    const revoked = await viewer.get('/console/receipts.csv?partner_id=acme&outcome=GRANT_REVOKED');
    assert.equal(revoked.headers.get('content-type'), 'text/csv; charset=utf-8');
    const rows = revoked.text.split('\r\n');
    assert.equal(rows.length, 1 + Math.floor(count / 2) + 1);
    assert.match(rows[0]!, /^at,request_id,.*partner_id,key_id,customer_id,grant_id,outcome$/);
    // A text with a comma, a quote and the end of a line, which a spreadsheet must not run.
    assert.match(rows.at(-3)!, /,KEY_0,"'=HYPERLINK\(""a"";""b""\),\n",,GRANT_REVOKED$/);

    const usage = await viewer.get('/console/usage.csv?partner_id=acme&key_id=KEY_0');
    assert.match(usage.text, new RegExp(`^${hourAgo(1)},acme,KEY_0,listBalances,OK,12`, 'm'));
    for (const path of ['/console/partners/acme', '/console/keys/KEY_0'])
      assert.match((await viewer.get(path)).text, /href="\/console\/usage\.csv\?partner_id=acme[^"]*">CSV</);
  });
}

test('numbers stay numbers in CSV, and texts that a spreadsheet would run do not run', async () => {
  const evil = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\tx',
    '\rx',
    ' =1',
    '\u{feff}=1',
    '＝1',
    '＋1',
    '－1',
    '＠A',
  ];
  const usage = [...evil, 'plain', "o'clock"].map((code) => ({ code, count: -3 }));
  const call = async () => ({ usage });
  const visit = { call, exchange: { query: '' } } as unknown as Visit;
  const parts = await Array.fromAsync((await download(visit, ['usage', 'csv'])).file);
  const shown = parts
    .join('')
    .split('\r\n')
    .slice(1, -1)
    .map((row) => /^,*([\s\S]*?),(-3)(?:,|$)/.exec(row)?.[1]);
  const quoted = (text: string) => (text.includes('\r') ? `"${text}"` : text);
  assert.deepEqual(shown, [...evil.map((text) => quoted(`'${text}`)), 'plain', "o'clock"]);
});

test('of 100,000 entries one page is read at a time, and others are answered between', async () => {
  let [read, answered] = [0, 0];
  const call = async () => {
    read += 1;
    setImmediate(() => (answered += 1));
    const entries = Array.from({ length: adminBounds.downloadedAtOnce }, () => ({ target: 'x' }));
    return { entries, ...(read < 100_000 / entries.length && { cursor: String(read) }) };
  };
  const visit = { call, exchange: { query: '' } } as unknown as Visit;
  const { file } = await download(visit, ['audit', 'jsonl']);
  let [taken, lines] = [0, 0];
  for await (const part of file) {
    taken += 1;
    lines += part.split('\n').length - 1;
    assert.equal(read, taken);
    assert.ok(answered >= taken - 1);
    if (taken % 50 === 0) await nextTurn();
  }
  assert.equal(lines, 100_000);
});

/** A console with more receipts than the kernel keeps for a reader, and a socket that downloads them. */
async function longScene(t: TestContext) {
  const scene = await consoleScene(t);
  const viewer = await scene.as('VIEWER');
  const at = createdAt;
  const long = { at, partner_id: 'acme', key_id: 'KEY_0', grant_id: '🦊'.repeat(256), outcome: 'GRANTED' };
  const operation = 'listBalances' as const;
  await scene.store.recordReceipts(
    Array.from({ length: 20_000 }, (_, index) => ({ ...long, operation, request_id: String(index) })),
  );
  const downloading = () => {
    const socket = scene.dial();
    const head = `GET /console/receipts.csv HTTP/1.1\r\nHost: localhost\r\nCookie: ${viewer.cookie}`;
    socket.write(`${head}\r\n\r\n`);
    return socket;
  };
  return { ...scene, viewer, downloading };
}

test('a download is refused by a page: a wrong filter, no session, too many at a time', async (t) => {
  const { open, viewer, downloading } = await longScene(t);
  for (const wrong of ['since=yesterday', 'partner=acme', 'by=hour']) {
    const { status, text, headers } = await viewer.get(`/console/audit.csv?${wrong}`);
    assert.equal(status, 400, wrong);
    assert.match(text, /Check what you sent/);
    assert.equal(headers.get('content-disposition'), null);
  }
  assert.equal((await open().get('/console/audit.csv')).status, 401);
  // They do not read.
  const slow = Array.from({ length: adminBounds.downloads }, downloading);
  const another = async () => viewer.get('/console/audit.jsonl');
  const becomes = async (status: number) => {
    for (let turn = 0; turn < 250 && (await another()).status !== status; turn += 1) await wait(20);
    return another();
  };
  const { status, text } = await becomes(503);
  assert.equal(status, 503);
  assert.match(text, /Other downloads are under way\. Try again when one of them has ended\./);
  assert.equal((await viewer.get('/console')).status, 200);
  for (const socket of slow) socket.destroy();
  assert.equal((await becomes(200)).status, 200);
});

test('the end of a session ends its download, and the browser sees that it failed', async (t) => {
  const { viewer, downloading } = await longScene(t);
  const ends = [
    () => t.mock.timers.enable({ apis: ['Date'], now: Date.now() + adminBounds.sessionMs }),
    () => viewer.post('/console/sign-out'),
  ];
  for (const end of ends) {
    const socket = downloading();
    await new Promise((resolve) => socket.once('readable', resolve));
    await end();
    let error: NodeJS.ErrnoException | undefined;
    socket.on('error', (thrown) => (error = thrown)).resume();
    await new Promise((resolve) => socket.once('close', resolve));
    assert.equal(error?.code, 'ECONNRESET');
    t.mock.timers.reset();
  }
});
