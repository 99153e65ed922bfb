/** What commands show on a terminal while they work. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../testkit/fixtures/lifetime.ts';
import { executable, withPartners } from '../../testkit/fixtures/run.ts';
import { needsTerminal, onTerminal, programOnTerminal } from '../../testkit/fixtures/terminal.ts';
import { listenOnAnyPort } from '../../testkit/servers/free-port.ts';
import { demoVariables } from '../../testkit/service/partner.ts';

const clearLine = '\r\u001b[K';

test(
  'migrate and backup show on a terminal what they do, and remove it at the end',
  needsTerminal,
  async (t) => {
    const line = await withPartners(t, ['acme']);
    for (const [words, shown] of [
      [['migrate'], 'migrating the database …'],
      [['backup', join(line.folder, 'copy.db')], 'copying the database and checking the copy …'],
    ] as const) {
      const terminal = onTerminal(t, 80, [...words, '--database', line.database]);
      assert.equal(await terminal.ended, 0);
      const [before, drawn, ...after] = terminal.shown().split(clearLine);
      assert.deepEqual([before, drawn], ['', shown]);
      assert.match(after.at(-1)!, /^(The production database|Copied the production database)/);
    }
  },
);

test('an export shows how much it has written if its reader is slow', needsTerminal, async (t) => {
  const line = await withPartners(t, ['acme']);
  const input = '{"reference_id":"r","name":"a name"}\n'.repeat(2_000);
  await line.run('import brands - --partner acme', { input });
  const pipe = join(line.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const command = `exec "$0" "$@" > ${pipe}`;
  const words = [executable, 'export', 'brands', '--database', line.database];
  const terminal = programOnTerminal(t, 80, ['sh', '-c', command, process.execPath, ...words]);
  const reader = createReadStream(pipe);
  await until(30_000, () => terminal.shown().includes(' MB written '));
  let read = '';
  for await (const some of reader) read += some;
  assert.equal(read.split('\n').length, 2_001);
  assert.equal(await terminal.ended, 0);
  assert.ok(terminal.shown().endsWith(clearLine));
});

test('doctor and conformance show what they wait for', needsTerminal, async (t) => {
  const port = await listenOnAnyPort(t, createServer());
  const baseUrl = `http://127.0.0.1:${port}/network/v1`;
  const doctor = onTerminal(t, 80, ['doctor', '--database', `postgres://nobody@127.0.0.1:${port}/none`]);
  const conformance = onTerminal(t, 80, ['conformance', baseUrl], demoVariables());
  await until(30_000, () => /\rconnecting … 0:0\d/.test(doctor.shown().replaceAll(clearLine, '\r')));
  await until(30_000, () => conformance.shown().includes(`${clearLine}waiting for ${baseUrl} … 0:0`));
});
