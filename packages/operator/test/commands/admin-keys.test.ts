import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { adminRoles } from '@partner-network/contract/permissions';
import { newId } from '../../../common/src/ids.ts';
import { digestOfKey, environmentOfAdminKey, newAdminKey } from '../../../service/src/auth.ts';
import { byTest, keyWithoutLifetime } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { assertFailed, type CommandLine, withPartners } from '../../../testkit/fixtures/run.ts';

type Shown = Readonly<Record<string, string>>;

const past = '2001-01-01T00:00:00.000Z';
const future = '2999-01-01T00:00:00.000Z';

function create(line: CommandLine, ...words: string[]): Promise<Shown> {
  return line.json('admin-keys', 'create', '--name', 'ci', '--role', 'SUPPORT', ...words);
}

test('creates an administrative key of each role, for its environment', async (t) => {
  const line = await withPartners(t, []);
  for (const role of adminRoles) {
    const key = await line.json<Shown>('admin-keys', 'create', '--name', 'Ana 🦊', '--role', role);
    assert.deepEqual(Object.keys(key), ['id', 'key', 'name', 'role', 'environment']);
    assert.match(key.id ?? '', /^ADMIN_KEY_[0-9a-f]{32}$/);
    assert.equal(environmentOfAdminKey(key.key ?? ''), 'production');
    assert.partialDeepStrictEqual(key, { name: 'Ana 🦊', role, environment: 'production' });
  }
  assert.deepEqual(pluck(await line.json<Shown[]>('admin-keys', 'list'), 'role'), adminRoles);
  assert.equal((await create(line, '--expires-at', future)).expires_at, future);
  const { stdout } = await line.run(['admin-keys', 'create', '--name', 'ci', '--role', 'ADMIN']);
  assert.match(stdout, /^pna_live_\w{49}\n\nCreated administrative key ADMIN_KEY_\w+\. Copy the key now: /);
});

test('needs a name and a role that exists', async (t) => {
  const line = await withPartners(t, []);
  assertFailed(await line.run(['admin-keys', 'create', '--role', 'ADMIN']), 2, /--name is required/);
  assertFailed(await line.run(['admin-keys', 'create', '--name', 'ci']), 2, /--role is required/);
  const unknown = ['admin-keys', 'create', '--name', 'ci', '--role', 'admin'];
  assertFailed(await line.run(unknown), 2, /--role must be one of VIEWER, INGEST, SUPPORT, ADMIN/);
  assert.equal((await line.run(['admin-keys', 'list'])).stdout, 'There are no administrative keys.\n');
});

test('lists administrative keys with status, creator and last use', async (t) => {
  const line = await withPartners(t, []);
  const active = await create(line, '--actor', 'eve');
  const usedAt = '2026-06-01T12:34:00.000Z';
  const expired = { id: newId('ADMIN_KEY'), name: 'old', role: 'ADMIN', last_four: 'abcd' } as const;
  await line.inside(async (store) => {
    await store.recordKeyUses([{ keyId: active.id!, usedAt }]);
    const times = { created_at: new Date().toISOString(), expires_at: past };
    await store.createAdminKey({ ...expired, ...times }, digestOfKey('old'), byTest);
  });
  const keys = await line.json<Shown[]>('admin-keys', 'list');
  assert.deepEqual(pluck(keys, 'id'), [active.id, expired.id]);
  assert.deepEqual(pluck(keys, 'status'), ['active', 'expired']);
  assert.partialDeepStrictEqual(keys[0], { role: 'SUPPORT', created_by: 'eve', last_used_at: usedAt });
  const { stdout } = await line.run(['admin-keys', 'list']);
  assert.match(stdout, /^ID +KEY +ROLE +STATUS +EXPIRES +LAST USED +CREATED +CREATED BY +NAME\n/);
  assert.ok(stdout.includes(` pna_live_…${active.key!.slice(-4)} `));
});

test('revokes an administrative key for good: the second time changes nothing and succeeds', async (t) => {
  const line = await withPartners(t, []);
  const { id = '' } = await create(line);
  const first = await line.json<Shown>('admin-keys', 'revoke', id, '--reason', 'left the company');
  assert.equal(first.status, 'revoked');
  assert.deepEqual(await line.json('admin-keys', 'revoke', id), first);
  const [entry, ...others] = await line.json<{ action: string; details: object }[]>(
    ...['audit', 'list', '--target', id],
  );
  assert.deepEqual(entry?.details, { role: 'SUPPORT', reason: 'left the company' });
  assert.deepEqual(pluck(others, 'action'), ['admin-keys create']);
  const { stdout } = await line.run(['admin-keys', 'revoke', id]);
  assert.match(stdout, /^Administrative key ADMIN_KEY_\w+ is revoked\. This takes effect on every instance /);
});

test('rotates an administrative key to one of the same name and role', async (t) => {
  const line = await withPartners(t, []);
  const old = await create(line);
  const key = await line.json<Shown>('admin-keys', 'rotate', old.id!);
  assert.deepEqual(Object.keys(key), ['id', 'key', 'name', 'role', 'environment']);
  assert.partialDeepStrictEqual(key, { name: 'ci', role: 'SUPPORT' });
  const { stdout } = await line.run(['admin-keys', 'rotate', key.id!, '--overlap', '0s']);
  assert.match(stdout, /Created administrative key \S+, which never expires\. The old key \S+ is revoked\. /);
  const keys = await line.json<Shown[]>('admin-keys', 'list');
  assert.deepEqual(pluck(keys, 'status'), ['active', 'revoked', 'active']);
  assert.ok(keys[0]?.expires_at);
  const again = await line.run(['admin-keys', 'rotate', key.id!]);
  assertFailed(again, 1, /is revoked and cannot be rotated\. Create .* "partner-network admin-keys create"/);
  for (const command of ['rotate', 'revoke'])
    assertFailed(await line.run(['admin-keys', command, 'x']), 1, /^There is no administrative key x\. /);
});

test('a key whose lifetime cannot be inherited is rotated with an expiry only', async (t) => {
  const line = await withPartners(t, ['acme']);
  const old = keyWithoutLifetime('LATE');
  await line.inside(async (store) => {
    await store.createKey(old, digestOfKey('a'), byTest);
    await store.createAdminKey({ ...old, name: 'ci', role: 'ADMIN' }, digestOfKey('b'), byTest);
  });
  for (const group of ['keys', 'admin-keys']) {
    const refused = await line.run([group, 'rotate', 'LATE', '--overlap', '0s']);
    assertFailed(refused, 2, /^The new key would have expired already, .* Pass --expires-at\.\n$/);
    assert.deepEqual(pluck(await line.json<Shown[]>(group, 'list'), 'status'), ['active']);
    const rotated = await line.json<Shown>(group, 'rotate', 'LATE', '--expires-at', future);
    assert.equal(rotated.expires_at, future);
  }
});

test('shows an administrative key once: no later command prints it, and no file holds it', async (t) => {
  const line = await withPartners(t, []);
  const { id = '', key = '' } = await create(line);
  const rotated = await line.json<Shown>('admin-keys', 'rotate', id);
  const finished = [
    await line.run(['admin-keys', 'list', '--json']),
    await line.run(['audit', 'list', '--json']),
    await line.run(['admin-keys', 'revoke', key]),
    await line.run(['admin-keys', 'create', '--role', 'ADMIN', '--name', key]),
    await line.run(['keys', 'find', '-'], { input: key }),
    await line.run(['admin-keys', 'revoke', id, '--json']),
  ];
  assert.deepEqual(pluck(finished, 'status'), [0, 0, 1, 2, 0, 0]);
  const printed = finished.map(({ stdout, stderr }) => stdout + stderr);
  const stored = readdirSync(line.folder).map((name) => readFileSync(join(line.folder, name), 'latin1'));
  for (const text of [...printed, ...stored]) {
    for (const secret of [key, rotated.key!])
      assert.ok(!text.includes(secret.slice(9, 29)), 'a secret shows');
  }
});

test('"keys find" says that a leaked key is an administrative key, and how to revoke it', async (t) => {
  const line = await withPartners(t, []);
  const { id = '', key = '' } = await create(line);
  const find = (input: string, ...words: string[]) => line.run(['keys', 'find', '-', ...words], { input });
  const { stdout } = await find(`${key}\n`);
  assert.match(stdout, new RegExp(`^This is the administrative key ${id} with the role SUPPORT\\.\n`));
  assert.match(stdout, /\nIt is active\. Last use: never\. Created /);
  assert.ok(stdout.endsWith(`\nRevoke it with "partner-network admin-keys revoke ${id}".\n`));
  const found = JSON.parse((await find(key, '--json')).stdout);
  assert.partialDeepStrictEqual(found, { id, role: 'SUPPORT', status: 'active' });
  assertFailed(await find(newAdminKey('production')), 1, /^This database does not have this key\./);
  assertFailed(await find(newAdminKey('sandbox')), 1, /key of the sandbox environment/);
});
