import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../src/ids.ts';

test('ids sort in the order of issue, also many in a millisecond and with a clock set back', () => {
  const ids: string[] = [];
  const nowMs = 1_700_000_000_000;
  // A millisecond has 65,536 ids, so the last of these have the next one.
  for (let issued = 0; issued < 70_000; issued += 1) ids.push(newId('BRAND', nowMs));
  for (const ms of [nowMs + 1, nowMs - 1_000, nowMs + 1]) ids.push(newId('BRAND', ms), newId('BRAND', ms));
  assert.ok(ids.every((id, index) => index === 0 || ids[index - 1]! < id));
  assert.match(ids[0]!, /^BRAND_[0-9a-f]{32}$/);
});
