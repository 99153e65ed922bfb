import { test } from 'node:test';
import { judgeClock } from '../../src/doctor/database.ts';
import { assertFinding } from './examined.ts';

test('reports different clocks only if the network delay cannot explain it', () => {
  assertFinding(judgeClock({ aheadMs: 1_001, unsureMs: 0 }), 'failed', /is 1 s ahead of/, /NTP/);
  assertFinding(judgeClock({ aheadMs: -61_000, unsureMs: 400 }), 'failed', /is 61 s behind/);
  assertFinding(judgeClock({ aheadMs: 999, unsureMs: 1 }), 'ok', /within 1 s/);
  assertFinding(
    judgeClock({ aheadMs: -1_300, unsureMs: 400 }),
    'warning',
    /takes 0\.8 s to answer, too long/,
  );
  assertFinding(judgeClock({ aheadMs: 700, unsureMs: 400 }), 'warning', /cannot|too long to tell/);
});
