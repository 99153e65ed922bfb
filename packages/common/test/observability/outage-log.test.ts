import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOutageLog } from '../../src/observability/outage-log.ts';

test('an outage is logged once at its start and once at its end', () => {
  const lines: string[] = [];
  const outage = createOutageLog();
  outage.recovered(() => lines.push('no outage'));
  for (let failure = 1; failure <= 3; failure += 1) outage.failed(() => lines.push(`failure ${failure}`));
  for (let success = 1; success <= 2; success += 1) outage.recovered(() => lines.push(`success ${success}`));
  outage.failed(() => lines.push('next outage'));
  assert.deepEqual(lines, ['failure 1', 'success 1', 'next outage']);
});

test('an outage that ends within its grace time is not logged', () => {
  const lines: string[] = [];
  let nowMs = 0;
  const outage = createOutageLog(1_000, () => nowMs);
  outage.failed(() => lines.push('at once'));
  nowMs = 999;
  outage.failed(() => lines.push('too early'));
  outage.recovered(() => lines.push('was not logged'));
  outage.failed(() => lines.push('at once again'));
  nowMs = 1_999;
  outage.failed(() => lines.push('after a second'));
  assert.deepEqual(lines, ['after a second']);
});
