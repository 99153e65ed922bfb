import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withPartners } from '../../../../testkit/fixtures/run.ts';
import { needsTerminal, onTerminal } from '../../../../testkit/fixtures/terminal.ts';

test('a terminal shows progress, then the summary; a pipe only the summary', needsTerminal, async (t) => {
  const line = await withPartners(t, ['acme']);
  const file = join(line.folder, 'brands.csv');
  writeFileSync(file, `name,reference_id\n${'Name,ref\n'.repeat(1_000)}`);
  const words = ['import', 'brands', file, '--partner', 'acme', '--dry-run', '--database', line.database];
  const summary = '1000 read, 1000 would be written, 0 unchanged, 0 stale, 0 would be deleted, 0 rejected.';
  const terminal = onTerminal(t, 80, words);
  const status = await terminal.ended;
  const [drawn = '', last] = terminal.shown().split('\n\u001b[1A\r\u001b[K');
  assert.deepEqual([status, last], [0, `${summary}\n`]);
  assert.match(drawn, /writing 1,000 records in one transaction …$/);
  const piped = await line.run(words.slice(0, -2));
  assert.deepEqual([piped.status, piped.stdout, piped.stderr], [0, `${summary}\n`, '']);
});
