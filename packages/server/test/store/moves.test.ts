import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMoves } from '../../src/store/sql/moves.ts';

test('any number of partners is written in one transaction', async () => {
  const created_at = '2026-01-01T00:00:00.000Z';
  const partners = Array.from({ length: 200_000 }, (_, index) => {
    return { id: `PARTNER_${index}`, name: 'Partner', created_at, keys: [] };
  });
  const sizes: number[] = [];
  const write = async ({ length }: readonly unknown[]) => void sizes.push(length);
  await createMoves({ rows: async () => [], write }).writePartnersWithKeys(partners);
  assert.deepEqual(sizes, [partners.length]);
});
