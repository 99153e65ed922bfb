/** What operators are shown of a balancer, with a real one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { errorCatalogue } from '@partner-network/contract/errors';
import { bounds } from '../packages/server/src/bounds.ts';
import { amongAllOnly } from '../packages/server/test/faults/all-faults.ts';
import { faultsOfConfig, haproxyConfig, withoutHaproxy } from '../packages/server/test/support/haproxy.ts';
import { rollThrough } from '../scripts/rolling-restarts.ts';

const config = readFileSync(haproxyConfig, 'utf8');

test('what the balancer has to answer itself has the shape of our errors', () => {
  const answers = [...config.matchAll(/http-error status (\d+) .* string '([^']+)'(.*)/g)];
  assert.deepEqual(
    answers.map(([, status]) => status),
    ['400', '408', '502', '503', '504'],
  );
  for (const [, , body = '', rest] of answers) {
    const [{ code, ...error }] = JSON.parse(body).errors;
    const { category, detail, status } = errorCatalogue[code as keyof typeof errorCatalogue];
    assert.deepEqual(error, { category, detail });
    assert.equal(rest === ' hdr Retry-After 1', status === 503);
  }
});

test('it lets go of idle connections before the service does, and notices a drain in time', () => {
  const seconds = (pattern: RegExp) => Number(pattern.exec(config)?.[1]);
  assert.ok(seconds(/timeout http-keep-alive (\d+)s/) * 1_000 < bounds.keepAliveMs);
  const [, interval, fast, fall] = /inter (\d+)s fastinter (\d+)ms fall (\d+)/.exec(config) ?? [];
  const noticedMs = Number(interval) * 1_000 + (Number(fall) - 1) * Number(fast);
  assert.ok(noticedMs <= 2_000, `${noticedMs} ms`);
});

test('HAProxy takes it as it stands', { skip: withoutHaproxy }, () => {
  assert.equal(faultsOfConfig(), '');
});

test('two restarts behind it, and every request gets its answer', {
  skip: withoutHaproxy || amongAllOnly,
}, async (t) => {
  const { requests, failures, words } = await rollThrough(t, {
    restarts: 2,
    drainDelaySeconds: 2,
    callers: 5,
    perSecond: 50,
    isRetrying: true,
    tell: () => {},
  });
  assert.deepEqual([...failures], [], words);
  assert.ok(requests > 20, `${requests} requests`);
});
