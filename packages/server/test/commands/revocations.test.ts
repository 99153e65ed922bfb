import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { assertFailed, run, start } from '../../../testkit/fixtures/run.ts';
import { freePort, listenOnAnyPort } from '../../../testkit/servers/free-port.ts';

const revocations = {
  'keys revoke KEY_1': 'The key still works until this command succeeds.',
  'grants revoke GRANT_1': 'The grant still works until this command succeeds.',
  'partners disable acme': "The partner's keys still work until this command succeeds.",
  'cursor-key rotate --discard-old': 'The old cursor keys still work until this command succeeds.',
};

const databaseAt = (port: number) => ['--database', `postgres://us:secret@127.0.0.1:${port}/network`];

test('says that access continues if a revocation fails, and only then', async () => {
  const unreachable = databaseAt(await freePort());
  for (const [line, consequence] of Object.entries(revocations)) {
    const failed = await run([...line.split(' '), ...unreachable]);
    assertFailed(failed, 1, /^Cannot open the database .*ECONNREFUSED/);
    assert.equal(failed.stderr.split('\n')[1], consequence);
  }
  const enabled = await run(['partners', 'enable', 'acme', ...unreachable]);
  assertFailed(enabled, 1, /^Cannot open the database [^\n]*\n$/);
});

test('says that access continues if a revocation is interrupted', async (t) => {
  const silent = createServer();
  const command = start(t, ['keys', 'revoke', 'KEY_1', ...databaseAt(await listenOnAnyPort(t, silent))]);
  await once(silent, 'connection');
  command.signal('SIGINT');
  assert.equal(await command.ended, null);
  assert.deepEqual(command.texts(), { stdout: '', stderr: `${revocations['keys revoke KEY_1']}\n` });
});
