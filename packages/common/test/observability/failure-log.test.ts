import assert from 'node:assert/strict';
import { test } from 'node:test';
import { observabilityBounds } from '../../src/bounds/common.ts';
import { createFailureLog } from '../../src/observability/log.ts';

test('an outage is logged once at its start and once at its end', () => {
  const lines: string[] = [];
  const outage = createFailureLog();
  outage.recovered(() => lines.push('no outage'));
  for (let failure = 1; failure <= 3; failure += 1) outage.failed(() => lines.push(`failure ${failure}`));
  for (let success = 1; success <= 2; success += 1) outage.recovered(() => lines.push(`success ${success}`));
  outage.failed(() => lines.push('next outage'));
  assert.deepEqual(lines, ['failure 1', 'success 1', 'next outage']);
});

test('an outage that ends within its grace time is not logged', () => {
  const lines: string[] = [];
  let nowMs = 0;
  const outage = createFailureLog({ graceMs: 1_000, nowMs: () => nowMs });
  outage.failed(() => lines.push('at once'));
  nowMs = 999;
  outage.failed(() => lines.push('too early'));
  outage.recovered(() => lines.push('was not logged'));
  outage.failed(() => lines.push('at once again'));
  nowMs = 1_999;
  outage.failed(() => lines.push('after a second'));
  assert.deepEqual(lines, ['after a second']);
});

test('failures are logged at its start, at long intervals, and when they are over', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lines: unknown[] = [];
  let nowMs = 0;
  const { failed } = createFailureLog({
    quietMs: 15,
    remindMs: 60,
    nowMs: () => nowMs,
    ended: (counted) => lines.push(counted),
  });
  const pass = (ms: number) => {
    nowMs += ms;
    t.mock.timers.tick(ms);
  };
  for (let failure = 0; failure < 10; failure += 1) {
    failed(() => lines.push(`failure ${failure}`));
    pass(10);
  }
  assert.deepEqual(lines, ['failure 0', 'failure 6']);
  pass(30);
  failed(() => lines.push('more failures'));
  assert.deepEqual(lines.slice(2), [{ requests: 10, duration_ms: 90 }, 'more failures']);
});

test('another cause meanwhile is logged once, too', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lines: string[] = [];
  const { failed } = createFailureLog({ quietMs: 15, nowMs: () => 0, ended: () => {} });
  for (const cause of ['locked', 'locked', 'damaged', 'locked', 'damaged']) {
    failed(() => lines.push(cause), cause);
  }
  assert.deepEqual(lines, ['locked', 'damaged']);
  for (let id = 0; id < 100; id += 1) failed(() => lines.push('unlike'), `process ${id}`);
  assert.equal(lines.length, observabilityBounds.failuresCauses);
});
