/** The limiters of a process and their metrics. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { needsOwnRedis, startRedis } from '../../../testkit/servers/redis.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { openLimiters } from '../../src/limiter/open.ts';
import { parseRedisUrl } from '../../src/limiter/redis/url.ts';

const { log } = watchedLog();

test('without a listing, no limiter or metric exists', async () => {
  const opened = await openLimiters({ environment: 'sandbox', rates: {} }, log);
  assert.deepEqual([opened.limiters, opened.metrics], [{}, []]);
  await opened.close();
});

test('without Redis each operation is limited in this process, and its decisions are counted', async () => {
  const rates = { brands: 2, balances: 0 };
  const { limiters, metrics, close } = await openLimiters({ environment: 'sandbox', rates }, log);
  assert.equal((await limiters.brands!.admit('acme', 2)).untilMoreMs, 1_000);
  for (let request = 0; request < 2; request += 1) await limiters.brands!.admit('acme', 2);
  assert.equal((await limiters.balances!.admit('acme', 1)).left, 0);
  assert.deepEqual(
    metrics.map(({ name, read }) => [name, read()]),
    [
      [
        'partner_network_limiter_decisions_total',
        [
          { labels: { operation: 'brands', source: 'memory', outcome: 'admitted' }, value: 2 },
          { labels: { operation: 'brands', source: 'memory', outcome: 'refused' }, value: 1 },
          { labels: { operation: 'balances', source: 'memory', outcome: 'admitted' }, value: 1 },
          { labels: { operation: 'balances', source: 'memory', outcome: 'refused' }, value: 0 },
        ],
      ],
    ],
  );
  await close();
});

test('with Redis the local decisions and the instances are metrics, too', needsOwnRedis, async (t) => {
  const redis = parseRedisUrl((await startRedis(t)).url)!;
  const rates = { brands: 2, balances: 1_000 };
  const { limiters, metrics, close } = await openLimiters({ environment: 'sandbox', rates, redis }, log);
  t.after(close);
  const readMetrics = () =>
    metrics.map(({ name, read }) => {
      const readings = read().map((reading) => [...Object.values(reading.labels), reading.value].join(' '));
      return { name, readings };
    });
  // On a busy machine Redis may be late, and this process decides by itself.
  await until(20_000, async () => {
    await limiters.balances!.admit('acme', 1_000);
    return readMetrics()[0]!.readings.includes('balances redis admitted 1');
  });
  const [decisions, fallbacks, instances] = readMetrics();
  const local = decisions!.readings.find((line) => line.startsWith('balances local admitted '))!;
  assert.deepEqual(fallbacks, {
    name: 'partner_network_limiter_fallbacks_total',
    readings: ['brands 0', `balances ${local.split(' ').at(-1)}`],
  });
  assert.deepEqual(instances, {
    name: 'partner_network_limiter_instances',
    readings: ['1'],
  });
});
