import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { grant } from '../../../store/test/suite/records.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { assertFailed, type CommandLine, run, start, withPartners } from '../../../testkit/fixtures/run.ts';
import { freePort, listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { fixtureDatabase } from '../../../testkit/service/database.ts';

const revocations = {
  'keys revoke KEY_1': 'Assume that the key still works until this command succeeds.',
  'admin-keys revoke ADMIN_KEY_1':
    'Assume that the administrative key still works until this command succeeds.',
  'grants revoke GRANT_1': 'Assume that the grant still works until this command succeeds.',
  'partners disable acme':
    "Assume that the partner's keys still work until this command succeeds. " +
    'If a node of the database is down, revoke the keys instead.',
  'cursor-key rotate --discard-old':
    'Assume that the old cursor keys still work until this command succeeds.',
};

const databaseAt = (port: number) => ['--database', `postgres://us:secret@127.0.0.1:${port}/network`];

/** Locks an embedded database as an import does, until the returned function is called. */
function lockOf({ databasePath }: CommandLine): () => void {
  const db = new DatabaseSync(databasePath);
  db.exec('begin immediate');
  return () => {
    db.exec('rollback');
    db.close();
  };
}

test('a revocation waits for a locked database, says so, and succeeds unless interrupted', async (t) => {
  const line = await withPartners(t, ['acme']);
  await line.inside(async (store) => {
    for (const [index, id] of ['k1', 'k2', 'k3'].entries()) {
      const key = { id, partner_id: 'acme', last_four: 'abcd', created_at: createdAt };
      const digest = new Uint8Array(32).fill(index);
      await store.createKey({ ...key, scopes: ['BRANDS_READ'] }, digest, byTest);
    }
    const stored = { id: 'a', last_four: 'abcd', created_at: createdAt };
    await store.createAdminKey({ ...stored, name: 'ci', role: 'ADMIN' }, new Uint8Array(32), byTest);
    await store.createGrant(grant, byTest);
    await store.createGrant({ ...grant, customer_id: 'zoe' }, byTest);
  });
  const unlock = lockOf(line);
  const [interrupted, ...waiting] = [
    'keys revoke k3',
    'keys revoke k1',
    'keys rotate k2 --overlap 0s',
    'admin-keys revoke a',
    'grants revoke g --customer alice',
    'partners disable acme',
    'customers erase zoe --yes',
  ].map((words) => start(t, [...words.split(' '), '--database', line.database]));
  for (const command of waiting) await command.says('stderr', / yet.* locks the database\. Waiting /);
  await interrupted!.says('stderr', /The key is not revoked yet and still works/);
  interrupted!.signal('SIGINT');
  assert.equal(await interrupted!.ended, null);
  assert.match(interrupted!.texts().stderr, /\nAssume that the key still works until [^\n]*\n$/);
  unlock();
  assert.deepEqual(await Promise.all(waiting.map(({ ended }) => ended)), [0, 0, 0, 0, 0, 0]);
  const keys = await line.json<{ id: string; status: string }[]>('keys list');
  const statusOf = (wanted: string) => keys.find(({ id }) => id === wanted)?.status;
  assert.deepEqual(['k1', 'k2', 'k3'].map(statusOf), ['revoked', 'revoked', 'active']);
  const grants = await line.json<{ status: string }[]>('grants list --partner acme');
  assert.deepEqual(pluck(grants, 'status'), ['REVOKED']);
});

test('a rotation that waits past its expiry issues nothing, and the old key works', async (t) => {
  const line = await withPartners(t, ['acme']);
  const words = ['keys', 'create', '--partner', 'acme', '--scope', 'BRANDS_READ'];
  const { id } = await line.json<{ id: string }>(...words);
  const unlock = lockOf(line);
  const expiryMs = Date.now() + 1_000;
  const expiry = new Date(expiryMs).toISOString();
  const rotated = line.run(['keys', 'rotate', id, '--overlap', '0s', '--expires-at', expiry]);
  await until(20_000, () => Date.now() > expiryMs);
  unlock();
  assertFailed(await rotated, 2, /The expiry is not in the future any more, so nothing was changed\./);
  assert.deepEqual(pluck(await line.json<{ status: string }[]>('keys list'), 'status'), ['active']);
});

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
  const { stdout, stderr } = command.texts();
  assert.equal(stdout, '');
  // A busy machine first says that nothing is revoked yet.
  assert.ok(stderr.endsWith(`${revocations['keys revoke KEY_1']}\n`), stderr);
});

/** A Postgres server that is lost when it has committed, or that never confirms the end of a session. */
async function faultyDatabase(t: TestContext, fault: 'loses the answer' | 'hangs at the end') {
  const direct = await fixtureDatabase(t);
  const proxy = createServer((near) => {
    const far = connect(Number(new URL(direct).port), '127.0.0.1');
    let said = '';
    let isCommitted = false;
    near.on('data', (bytes) => {
      if (fault === 'hangs at the end' && bytes.toString('latin1') === 'X\0\0\0\x04') return;
      said += bytes.toString('latin1');
      isCommitted = fault === 'loses the answer' && /update api_keys.*commit/s.test(said);
      far.write(bytes);
    });
    far.on('data', (bytes) => (isCommitted ? near.destroy() : near.write(bytes)));
    for (const socket of [near, far]) socket.on('error', () => {});
    near.on('close', () => far.end());
  });
  const through = new URL(direct);
  through.port = String(await listenOnAnyPort(t, proxy));
  const flags = (url: string) => ['--environment', 'sandbox', '--database', url];
  return { direct: flags(direct), through: flags(through.href) };
}

test('does not claim that a key still works if the answer to its revocation was lost', async (t) => {
  const { direct, through } = await faultyDatabase(t, 'loses the answer');
  const revoked = await run(['keys', 'revoke', 'KEY_1', ...through]);
  assertFailed(revoked, 1, /connection was lost/, /\nAssume that the key still works until [^\n]*\n$/);
  const listed = await run(['keys', 'list', '--partner', 'acme', '--json', ...direct]);
  const keys: { id: string; status: string }[] = JSON.parse(listed.stdout);
  assert.equal(keys.find(({ id }) => id === 'KEY_1')?.status, 'revoked');
});

test('says nothing of a failure if it is interrupted after the revocation', async (t) => {
  const { through } = await faultyDatabase(t, 'hangs at the end');
  const command = start(t, ['keys', 'revoke', 'KEY_1', ...through]);
  await command.says('stdout', /^Key KEY_1 is revoked\./);
  command.signal('SIGINT');
  // On a busy machine the command may give up on the connection before the signal arrives.
  assert.ok([null, 0].includes(await command.ended));
  assert.equal(command.texts().stderr, '');
});
