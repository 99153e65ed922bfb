import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../src/ids.ts';

test('ids sort in the order of issue, also many in a millisecond and with a clock set back', () => {
  const ids: string[] = [];
  for (const nowMs of [1_700_000_000_000, 1_700_000_000_001, 1_600_000_000_000, 1_700_000_000_001]) {
    for (let issued = 0; issued < 70_000; issued += 1) ids.push(newId('BRAND', nowMs));
  }
  assert.ok(ids.every((id, index) => index === 0 || ids[index - 1]! < id));
  assert.match(ids[0]!, /^BRAND_[0-9a-f]{32}$/);
});
