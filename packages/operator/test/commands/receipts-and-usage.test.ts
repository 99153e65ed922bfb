import assert from 'node:assert/strict';
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { commandLineBounds } from '../../../common/src/bounds/common.ts';
import { toTime } from '../../../common/src/times.ts';
import type { Receipt, Store, UsageCount } from '../../../store/src/port.ts';
import { startOf } from '../../../store/src/sql/journal.ts';
import { receiptAt } from '../../../store/test/suite/receipts.ts';
import { fillFixture, keys } from '../../../testkit/fixtures/fixture.ts';
import { assertUnavailable } from '../../../testkit/fixtures/http.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { commandLine, withPartners } from '../../../testkit/fixtures/run.ts';
import { metricOf, serveSandbox } from '../../../testkit/fixtures/served.ts';
import { openTestDatabase } from '../../../testkit/service/database.ts';

const limits = { timeout: 60_000 };
const alice = '?customer_id=alice&type=CHECKING';

/** Serves the fixture's database, which is also opened here. */
async function serveFixture(t: TestContext, engine: string, ...flags: string[]) {
  const { url, store } = await openTestDatabase(t, 'fixture', fillFixture, engine);
  const served = await serveSandbox(t, url, ['--log-level', 'warn', ...flags]);
  const ask = async () => {
    const answer = await served.balances(alice, { key: keys.acme });
    // On a busy machine some requests are shed before their key is read, and leave no receipt.
    const isAnswered = answer.status === 200;
    if (!isAnswered) assertUnavailable(answer);
    return { id: String(answer.headers['x-request-id']), isAnswered };
  };
  return { ...served, store, ask };
}

async function idsIn(store: Store): Promise<Set<string>> {
  return new Set((await store.listReceipts({ limit: 100_000 })).map(({ request_id }) => request_id));
}

for (const engine of ['sqlite', 'postgres']) {
  // That a receipt is written within a second is tested with the journal, which does not depend on load.
  test(`kill -9 loses no receipt that counts as written (${engine})`, limits, async (t) => {
    const { ask, store, operationsUrl, signal, ended } = await serveFixture(t, engine);
    const answers = [];
    const written = () => metricOf(operationsUrl, 'partner_network_receipts_written_total');
    while (answers.filter(({ isAnswered }) => isAnswered).length < 20) answers.push(await ask());
    const due = answers.filter(({ isAnswered }) => isAnswered);
    await until(30_000, async () => (await written()) === due.length);
    // These are in memory when the process ends.
    await Promise.all(Array.from({ length: 20 }, ask));
    signal('SIGKILL');
    await ended;
    const kept = await idsIn(store);
    assert.ok(due.every(({ id }) => kept.has(id)));
  });
}

for (const [engine, ...words] of [['sqlite'], ['postgres', '--workers', '2']] as const) {
  const on = [engine, ...words].join(' ');
  test(`SIGTERM loses no receipt and no count of usage (${on})`, limits, async (t) => {
    const { ask, store, signal, ended } = await serveFixture(t, engine, ...words);
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    signal('SIGTERM');
    assert.equal(await ended, 0);
    const kept = await idsIn(store);
    const answered = answers.filter(({ isAnswered }) => isAnswered);
    assert.ok(answered.length > 0);
    assert.ok(answered.every(({ id }) => kept.has(id)));
    assert.ok(kept.isSubsetOf(new Set(answers.map(({ id }) => id))));
    const usage = await store.listUsage({ by: 'day', limit: 10 });
    const counted = usage.filter(({ code }) => code === 'OK').reduce((sum, { count }) => sum + count, 0);
    assert.equal(counted, answered.length);
  });
}

test('the file of receipts is for its owner only, and no reading command creates it', limits, async (t) => {
  const line = await withPartners(t, ['acme']);
  const file = `${line.databasePath}-receipts`;
  assert.equal(statSync(file).mode & 0o777, 0o600);
  rmSync(file);
  assert.deepEqual(await line.json('receipts list'), []);
  await line.json('receipts prune --older-than 1s --yes');
  await line.json('keys list --partner acme');
  assert.ok(!existsSync(file));
  await line.inside((store) => store.recordReceipts([receiptAt(0)]));
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('refuses to serve with the receipts of another environment', limits, async (t) => {
  const line = commandLine(t);
  const other = commandLine(t);
  await line.inside((store) => store.recordReceipts([receiptAt(0)]), 'production');
  await other.inside(async () => {}, 'sandbox');
  renameSync(`${line.databasePath}-receipts`, `${other.databasePath}-receipts`);
  const words = ['serve', '--environment', 'sandbox', '--port', '0', '--ops-port', '0'];
  await other.fails(words, 1, /^Cannot open the receipts \S+: This is a production database/);
});

const nowMs = Date.now();
const dayMs = 86_400_000;
const daysAgo = (days: number, more: Partial<Receipt> = {}) =>
  receiptAt(0, { at: toTime(nowMs - days * dayMs), ...more });

test('lists receipts newest first, and those that the flags name', limits, async (t) => {
  const line = await withPartners(t, ['acme', 'zenith']);
  const { id } = await line.json<{ id: string }>('keys create --partner acme --scope BALANCES_READ');
  const { customer_id: _, ...ofNobody } = daysAgo(2, { partner_id: 'zenith', outcome: 'RATE_LIMITED' });
  const granted = daysAgo(1, { key_id: id });
  const before = daysAgo(3, { customer_id: 'zoe', outcome: 'GRANT_REVOKED' });
  await line.inside((store) => store.recordReceipts([before, ofNobody, granted]));
  for (const [words, expected] of [
    ['', [granted, ofNobody, before]],
    [' --partner acme --limit 1', [granted]],
    [' --customer zoe', [before]],
    [` --key ${id}`, [granted]],
    [' --since 60h', [granted, ofNobody]],
    [` --since ${granted.at} --partner zenith`, []],
    [` --until ${granted.at}`, [ofNobody, before]],
    [` --request-id ${granted.request_id.toUpperCase()}`, [granted]],
    [' --outcome GRANT_REVOKED', [before]],
    [' --outcome GRANTED', [granted]],
    [' --outcome REHEARSED_FAULT', []],
  ] as const) {
    assert.deepEqual(await line.json(`receipts list${words}`), expected, words);
  }
  const { stderr } = await line.run('receipts list --limit 2');
  assert.match(stderr, /^There are more receipts\. --all shows all/);
  const { stdout } = await line.run('receipts list --partner zenith');
  const [heading, row, ...rest] = stdout.trimEnd().split('\n');
  assert.equal(heading?.split(/ {2,}/).join(), 'TIME,OUTCOME,CUSTOMER,OPERATION,REQUEST ID,KEY,GRANT');
  const { at, request_id } = ofNobody;
  assert.equal(row?.split(/ +/).join(), `${at},RATE_LIMITED,-,listBalances,${request_id},KEY_1,g`);
  assert.deepEqual(rest, []);
});

test('lists more than a page of receipts, each once, in one JSON document', limits, async (t) => {
  const line = commandLine(t);
  const receipts = Array.from({ length: 2 * commandLineBounds.listPage + 5 }, (_, index) => receiptAt(index));
  await line.inside((store) => store.recordReceipts(receipts));
  const limit = 2 * commandLineBounds.listPage + 1;
  assert.deepEqual(
    await line.json('receipts', 'list', '--limit', String(limit)),
    receipts.toReversed().slice(0, limit),
  );
});

test(
  'removes receipts older than an age, or only counts them; new ones only with --yes',
  limits,
  async (t) => {
    const line = commandLine(t);
    const ages = [401, 400.5, 399, 29.5, 1];
    await line.inside((store) => store.recordReceipts(ages.map((days) => daysAgo(days))));
    const prune = 'receipts prune --older-than 400d';
    const counted = await line.run(`${prune} --dry-run`);
    assert.match(counted.stdout, /^Would remove 2 receipts from before \S+Z\. Nothing was removed\.\n$/);
    assert.deepEqual(await line.json(`${prune} --dry-run`), { removed: 0, would_remove: 2 });
    assert.deepEqual(await line.json(prune), { removed: 2 });
    assert.match((await line.run(prune)).stdout, /^Removed 0 receipts from before /);
    const asked =
      /^This removes 2 receipts from before .* Nothing was changed: pass --yes to confirm it\.\n$/;
    await line.fails('receipts prune --older-than 29d', 1, asked);
    assert.equal((await line.json<Receipt[]>('receipts list')).length, 3);
    assert.deepEqual(await line.json('receipts prune --older-than 29d --yes'), { removed: 2 });
  },
);

const hourAgo = (hours: number) => startOf(toTime(Date.now() - hours * 3_600_000), 'hour');
const countOf = (from: string, more: Partial<UsageCount> = {}): UsageCount => ({
  from,
  partner_id: 'acme',
  key_id: 'KEY_1',
  operation: 'listBrands',
  code: 'OK',
  count: 1,
  ...more,
});

test('usage list counts each answer of a found key by its operation and code', async (t) => {
  const line = commandLine(t);
  await line.inside(fillFixture, 'sandbox');
  const served = await serveSandbox(t, line.database, ['--log-level', 'warn']);
  for (const query of ['', '', '?limit=0']) await served.brands(query, { key: keys.acme });
  await served.balances('?customer_id=alice&type=CHECKING', { key: keys.acme });
  await served.brands('', { key: 'unknown' });
  served.signal('SIGTERM');
  assert.equal(await served.ended, 0);
  const found = await line.json<UsageCount[]>('usage list --by day --environment sandbox');
  const counts = found.map(
    ({ partner_id, operation, code, count }) => `${partner_id} ${operation} ${code} ${count}`,
  );
  const expected = ['acme listBalances OK 1', 'acme listBrands OK 2', 'acme listBrands VALUE_TOO_LOW 1'];
  assert.deepEqual(counts.toSorted(), expected);
});

test('usage list filters by partner, key and time, and says if there is more', async (t) => {
  const line = await withPartners(t, ['acme', 'zenith']);
  const now = hourAgo(0);
  const before = hourAgo(1);
  const old = hourAgo(50 * 24);
  await line.inside((store) =>
    store.recordUsage([
      countOf(now),
      countOf(before, { partner_id: 'zenith', key_id: 'KEY_2', code: 'RATE_LIMITED', count: 7 }),
      countOf(old),
    ]),
  );
  const list = (words: string) => line.json<UsageCount[]>(`usage list ${words}`);
  assert.deepEqual(pluck(await list('--limit 9'), 'count'), [1, 7, 1]);
  assert.deepEqual(pluck(await list('--partner zenith'), 'count'), [7]);
  assert.deepEqual(await list('--partner acme --since 1d'), [countOf(now)]);
  const table = await line.run('usage list --limit 1');
  assert.match(table.stdout, /^FROM +CODE +COUNT +PARTNER +OPERATION +KEY +PEAK +SLOWEST MS\n/);
  assert.match(table.stderr, /^There are more counts\. --all shows all/);
  const ofPartner = await line.run('usage list --partner acme');
  assert.match(ofPartner.stdout, /^FROM +CODE +COUNT +OPERATION +KEY /);
  assert.deepEqual(await line.json('usage prune --older-than 40d'), { removed: 1 });
  assert.equal((await list('--limit 9')).length, 2);
});
