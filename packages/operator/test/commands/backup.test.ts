import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertFailed, run, withPartners } from '../../../testkit/fixtures/run.ts';

test('backup prints the file and the time of the copy, and replaces no file', async (t) => {
  const line = await withPartners(t, ['acme']);
  const file = join(line.folder, 'copy.db');
  const answer = await line.json<{ taken_at: string }>(`backup ${file}`);
  assert.ok(Math.abs(Date.parse(answer.taken_at) - Date.now()) < 60_000);
  const copyOf = (file: string) => ({ file, bytes: statSync(file).size });
  const copies = { database: copyOf(file), receipts: copyOf(`${file}-receipts`) };
  assert.deepEqual(answer, { environment: 'production', taken_at: answer.taken_at, ...copies });
  await line.fails(`backup ${file}`, 1, /copy\.db already exists/);
});

test('backup points to pg_dump for Postgres without connecting', async () => {
  const words = ['backup', 'copy.db', '--database', 'postgres://network@db.invalid/network'];
  assertFailed(await run(words), 2, /For Postgres, use pg_dump/);
});
