import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { executable, withPartners } from '../support/run.ts';

const skip =
  spawnSync('script', ['--version']).status !== 0 &&
  'needs "script" of util-linux, which gives it a terminal';

test('shows a terminal how far it is, leaves the summary alone there, and shows a pipe nothing', {
  skip,
}, async (t) => {
  const line = await withPartners(t, ['acme']);
  const file = join(line.folder, 'brands.csv');
  writeFileSync(file, `name,reference_id\n${'Name,ref\n'.repeat(1_000)}`);
  const words = ['import', 'brands', file, '--partner', 'acme', '--dry-run', '--database', line.database];
  const summary = '1000 read, 1000 would be written, 0 unchanged, 0 rejected.';
  const command = [process.execPath, executable, ...words].map((word) => `'${word}'`).join(' ');
  const { stdout, status } = spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' });
  const [drawn = '', last] = stdout.replaceAll('\r\n', '\n').split('\n\u001b[1A\r\u001b[K');
  assert.deepEqual([status, last], [0, `${summary}\n`]);
  assert.match(drawn, /writing 1,000, all or none …$/);
  const piped = await line.run(words.slice(0, -2));
  assert.deepEqual([piped.status, piped.stdout, piped.stderr], [0, `${summary}\n`, '']);
});
