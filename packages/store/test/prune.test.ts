import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { receiptsBounds } from '../../common/src/bounds/service.ts';
import { byTest } from '../../testkit/fixtures/fixture.ts';
import { createPruning } from '../src/sql/journal.ts';
import { createSql } from '../src/sqlite/engine.ts';

test('two commands that prune at once leave no old row', async () => {
  const db = new DatabaseSync(':memory:');
  db.exec('create table receipts (at text)');
  const insert = db.prepare('insert into receipts values (?)');
  const count = 3 * receiptsBounds.pruned;
  for (let row = 0; row < count; row += 1) insert.run(String(row).padStart(9, '0'));
  const { rows } = createSql(db);
  let selections = 0;
  const { prune } = createPruning(
    async (text, ...values) => {
      const found = await rows(text, ...values);
      // The other command deletes the rows of the first batch after this one has chosen them.
      if (text.startsWith('select at') && ++selections === 1)
        await rows('delete from receipts where at <= $1', found[0]!.at as string);
      return found;
    },
    async () => [],
  );
  assert.equal(await prune('receipts', '9', byTest), count - receiptsBounds.pruned);
  assert.equal(db.prepare('select count(*) as left from receipts').get()!.left, 0);
});
