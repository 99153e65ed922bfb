import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTime } from '../../../common/src/times.ts';
import type { UsageCount } from '../../../store/src/port.ts';
import { startOf } from '../../../store/src/sql/journal.ts';
import { fillFixture, keys } from '../../../testkit/fixtures/fixture.ts';
import { assertFailed, commandLine, withPartners } from '../../../testkit/fixtures/run.ts';
import { serveSandbox } from '../../../testkit/fixtures/served.ts';

const hourAgo = (hours: number) => startOf(toTime(Date.now() - hours * 3_600_000), 'hour');
const countOf = (from: string, more: Partial<UsageCount> = {}): UsageCount => ({
  ...{ from, partner_id: 'acme', key_id: 'KEY_1', operation: 'listBrands', code: 'OK', count: 1 },
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
  const found = await line.json<UsageCount[]>('usage', 'list', '--by', 'day', '--environment', 'sandbox');
  assert.deepEqual(
    found.map(({ partner_id, operation, code, count }) => [partner_id, operation, code, count]).toSorted(),
    [
      ['acme', 'listBalances', 'OK', 1],
      ['acme', 'listBrands', 'OK', 2],
      ['acme', 'listBrands', 'VALUE_TOO_LOW', 1],
    ],
  );
});

test('usage list filters by partner, key and time, and says if there is more', async (t) => {
  const line = await withPartners(t, ['acme', 'zenith']);
  const [now, before, old] = [hourAgo(0), hourAgo(1), hourAgo(50 * 24)];
  await line.inside((store) =>
    store.recordUsage([
      countOf(now),
      countOf(before, { partner_id: 'zenith', key_id: 'KEY_2', code: 'RATE_LIMITED', count: 7 }),
      countOf(old),
    ]),
  );
  const list = (...words: string[]) => line.json<UsageCount[]>('usage', 'list', ...words);
  assert.equal((await list()).length, 3);
  assert.deepEqual(
    (await list('--partner', 'zenith')).map(({ count }) => count),
    [7],
  );
  assert.deepEqual(await list('--partner', 'acme', '--since', '1d'), [countOf(now)]);
  const table = await line.run(['usage', 'list', '--limit', '1']);
  assert.match(table.stdout, /^FROM +PARTNER +KEY +OPERATION +CODE +COUNT\n/);
  assert.match(table.stderr, /^There are more counts: raise --limit/);
  assertFailed(await line.run(['usage', 'list', '--by', 'week']), 2, /^--by must be one of hour, day/);
  assertFailed(await line.run(['usage', 'list', '--key', 'KEY_9']), 1, /^There is no key KEY_9/);

  assert.deepEqual(await line.json('usage', 'prune', '--older-than', '40d'), { removed: 1 });
  assert.equal((await list()).length, 2);
});
