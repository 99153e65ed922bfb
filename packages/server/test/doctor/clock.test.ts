import { test } from 'node:test';
import { judgeClock } from '../../src/doctor/database.ts';
import { assertFinding } from './examined.ts';

test('reports different clocks only if the network delay cannot explain it', () => {
  assertFinding(judgeClock(1_001, 0), 'failed', /is 1 s ahead of/, /NTP/);
  assertFinding(judgeClock(-61_000, 400), 'failed', /is 61 s behind/);
  assertFinding(judgeClock(999, 1), 'ok', /within 1 s/);
  assertFinding(judgeClock(-1_300, 400), 'warning', /takes 0\.8 s to answer, too long/);
  assertFinding(judgeClock(700, 400), 'warning', /cannot|too long to tell/);
});
