import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byTest } from '../../testkit/fixtures/fixture.ts';
import { createMoves } from '../src/sql/moves.ts';
import type { Steps } from '../src/sql/statement.ts';

test('any number of partners is written in one transaction', async () => {
  const created_at = '2026-01-01T00:00:00.000Z';
  const partners = Array.from({ length: 200_000 }, (_, index) => {
    return { id: `PARTNER_${index}`, name: 'Partner', created_at, keys: [] };
  });
  const sizes: number[] = [];
  const transaction = async <Result>(steps: Steps<Result>) => {
    const running = steps();
    let size = 0;
    for (let step = running.next(); ; step = running.next([])) {
      if (step.done) {
        sizes.push(size);
        return step.value;
      }
      size += 1;
    }
  };
  await createMoves({ rows: async () => [], transaction }).writePartnersWithKeys(partners, byTest, 'keep');
  // Two reads come first, and one last. No row was changed, so there is no audit entry.
  assert.deepEqual(sizes, [partners.length + 3]);
});
