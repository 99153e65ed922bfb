import { test } from 'node:test';
import { judgeClock as judge } from '../../src/doctor/database.ts';
import { assertFinding } from './examined.ts';

test('calls clocks apart only when the way to the database cannot explain it', () => {
  assertFinding(judge({ aheadMs: 1_001, unsureMs: 0 }), 'failed', /is 1 s ahead of/, /NTP/);
  assertFinding(judge({ aheadMs: -61_000, unsureMs: 400 }), 'failed', /is 61 s behind/);
  assertFinding(judge({ aheadMs: 999, unsureMs: 1 }), 'ok', /within 1 s/);
  assertFinding(judge({ aheadMs: -1_300, unsureMs: 400 }), 'warning', /takes 0\.8 s to answer, too long/);
  assertFinding(judge({ aheadMs: 700, unsureMs: 400 }), 'warning', /cannot|too long to tell/);
});
