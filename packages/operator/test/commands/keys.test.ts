import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newId } from '../../../common/src/ids.ts';
import { digestOfKey, environmentOfKey, newApiKey } from '../../../service/src/auth.ts';
import { byTest } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { assertFailed, type CommandLine, run, withPartners } from '../../../testkit/fixtures/run.ts';

interface CreatedKey {
  readonly id: string;
  readonly key: string;
  readonly scopes: string[];
}

type ListedKey = Readonly<Record<string, string>>;

const future = '2999-01-01T00:00:00.000Z';
const past = '2001-01-01T00:00:00.000Z';

function createKey(line: CommandLine, ...words: string[]): Promise<CreatedKey> {
  return line.json('keys', 'create', '--partner', 'acme', '--scope', 'BRANDS_READ', ...words);
}

/** A key whose time has passed. No command creates one. */
function expiredKey(line: CommandLine): Promise<{ id: string }> {
  const id = newId('KEY');
  const key = {
    id,
    partner_id: 'acme',
    scopes: ['BRANDS_READ' as const],
    last_four: 'abcd',
    created_at: past,
  };
  return line.inside(async (store) => {
    await store.createKey({ ...key, expires_at: past }, digestOfKey(id), byTest);
    return key;
  });
}

function listKeys(line: CommandLine): Promise<ListedKey[]> {
  return line.json('keys', 'list', '--partner', 'acme');
}

test('creates a key of its environment with its scopes', async (t) => {
  const line = await withPartners(t, ['acme']);
  const key = await createKey(line);
  assert.deepEqual(Object.keys(key), ['id', 'key', 'partner_id', 'scopes', 'environment']);
  assert.match(key.id, /^KEY_[0-9a-f]{32}$/);
  assert.match(key.key, /^pn_live_[0-9A-Za-z]{49}$/);
  assert.equal(environmentOfKey(key.key), 'production');
  const expected = { partner_id: 'acme', scopes: ['BRANDS_READ'], environment: 'production' };
  assert.partialDeepStrictEqual(key, expected);

  const scopes = ['--scope', 'BALANCES_READ', '--scope', 'BRANDS_READ'];
  const full = await createKey(line, ...scopes, '--name', 'ci', '--expires-at', '2999-01-01T00:00:00+00:00');
  assert.deepEqual(Object.keys(full), ['id', 'key', 'partner_id', 'scopes', 'environment', 'expires_at']);
  assert.deepEqual(full.scopes.toSorted(), ['BALANCES_READ', 'BRANDS_READ']);
  assert.partialDeepStrictEqual(full, { expires_at: future });
});

test('creates test keys in a sandbox', async (t) => {
  const line = await withPartners(t, ['acme'], 'sandbox');
  const key = await createKey(line, '--environment', 'sandbox');
  assert.partialDeepStrictEqual(key, { environment: 'sandbox' });
  assert.equal(environmentOfKey(key.key), 'sandbox');
});

test('refuses an expiry that is not in the future, and the old key keeps working', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { id } = await createKey(line);
  for (const words of [
    ['keys', 'create', '--partner', 'acme', '--scope', 'BRANDS_READ'],
    ['keys', 'rotate', id, '--overlap', '0s'],
    ['admin-keys', 'create', '--name', 'ci', '--role', 'ADMIN'],
    ['admin-keys', 'rotate', 'ADMIN_KEY_1'],
    ['grants', 'create', '--partner', 'acme', '--customer', 'alice'],
  ]) {
    const refused = await line.run([...words, '--expires-at', past, '--json']);
    assertFailed(refused, 2, /^--expires-at must be a time in the future\.\n/);
  }
  assert.deepEqual(pluck(await listKeys(line), 'status'), ['active']);
});

test('shows a key once: no later command prints it, and no file holds it', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { id, key } = await createKey(line, '--name', 'ci');
  const rotated = await line.json<CreatedKey>('keys', 'rotate', id);
  const secrets = [key, rotated.key].map((text) => text.slice('pn_live_'.length));
  const finished = [
    await line.run(['keys', 'list', '--partner', 'acme', '--json']),
    await line.run(['keys', 'list', '--partner', 'acme']),
    await line.run(['keys', 'revoke', id, '--json']),
    await line.run(['keys', 'revoke', rotated.id]),
    await line.run(['keys', 'rotate', id, '--json']),
  ];
  const printed = finished.map(({ stdout, stderr }) => stdout + stderr);
  const stored = readdirSync(line.folder).map((name) => readFileSync(join(line.folder, name), 'latin1'));
  for (const text of [...printed, ...stored]) {
    for (const secret of secrets) assert.ok(!text.includes(secret.slice(0, 20)), 'a secret shows');
  }
  assert.ok(!('key' in (await listKeys(line))[0]!));
});

test('lists active, revoked and expired keys with their status', async (t) => {
  const line = await withPartners(t, ['acme']);
  const active = await createKey(line, '--name', 'ci', '--expires-at', future);
  const revoked = await expiredKey(line);
  await line.json('keys', 'revoke', revoked.id);
  const expired = await expiredKey(line);
  const keys = await listKeys(line);
  assert.deepEqual(
    keys.map(({ id, name, status, expires_at }) => [id, name, status, expires_at]),
    [
      [active.id, 'ci', 'active', future],
      [revoked.id, undefined, 'revoked', past],
      [expired.id, undefined, 'expired', past],
    ],
  );
  const { stdout } = await line.run(['keys', 'list', '--partner', 'acme']);
  assert.match(stdout, new RegExp(`^${revoked.id} .* revoked `, 'm'));
});

const rotations = [
  ['24 hours by default', [], 24 * 3_600_000],
  ['the given overlap', ['--overlap', '90m'], 90 * 60_000],
  ['no time with an overlap of 0s', ['--overlap', '0s'], 0],
] as const;

for (const [promise, words, overlapMs] of rotations) {
  test(`rotates a key to a new one of the same scopes; the old one works for ${promise}`, async (t) => {
    const line = await withPartners(t, ['acme']);
    const old = await createKey(line, '--scope', 'BALANCES_READ', '--name', 'ci');
    const before = Date.now();
    const key = await line.json<CreatedKey>('keys', 'rotate', old.id, ...words);
    const after = Date.now();
    assert.deepEqual(Object.keys(key), ['id', 'key', 'partner_id', 'scopes', 'environment']);
    assert.notEqual(key.id, old.id);
    assert.notEqual(key.key, old.key);
    assert.partialDeepStrictEqual(key, { partner_id: 'acme', scopes: old.scopes });
    const [oldNow, newNow] = await listKeys(line);
    const end = overlapMs === 0 ? oldNow?.revoked_at : oldNow?.expires_at;
    const endMs = Date.parse(String(end)) - overlapMs;
    assert.ok(endMs >= before && endMs <= after);
    assert.deepEqual([oldNow?.status, newNow?.status], [overlapMs === 0 ? 'revoked' : 'active', 'active']);
    assert.deepEqual([newNow?.id, newNow?.name], [key.id, 'ci']);
  });
}

test('refuses to rotate a revoked, expired or unknown key, and a wrong overlap', async (t) => {
  const line = await withPartners(t, ['acme']);
  const revoked = await createKey(line);
  await line.json('keys', 'revoke', revoked.id);
  const expired = await expiredKey(line);
  const refused = await line.run(['keys', 'rotate', revoked.id, '--json']);
  assertFailed(refused, 1, /is revoked/);
  assert.doesNotMatch(refused.stderr, /still works/);
  assertFailed(await line.run(['keys', 'rotate', expired.id, '--json']), 1, /is expired/);
  assertFailed(await line.run(['keys', 'rotate', 'KEY_0']), 1, /There is no key KEY_0/);
  assertFailed(await line.run(['keys', 'revoke', 'KEY_0']), 1, /There is no key KEY_0/);
  for (const overlap of ['1 day', '4000000d']) {
    const words = ['keys', 'rotate', expired.id, '--overlap', overlap];
    assertFailed(await line.run(words), 2, /--overlap must be/);
  }
  assert.equal((await listKeys(line)).length, 2);
});

test('never repeats a key that is given as an id, and never stores it as a name', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { key } = await createKey(line);
  for (const words of [
    ['keys', 'revoke', key],
    ['keys', 'rotate', key],
    ['partners', 'disable', key],
    ['grants', 'revoke', key],
    ['import', 'balances', key],
    ['partners', 'list', key],
    ['partners', 'list', `--${key}`],
    [key],
    ['keys', 'list', '--partner', key],
    ['keys', 'create', '--partner', 'acme', '--scope', 'BRANDS_READ', '--name', key],
    ['partners', 'create', '--name', `the key ${key}`],
  ]) {
    const { status, stdout, stderr } = await line.run(words);
    assert.ok(status !== 0, words.join(' '));
    assert.ok(!(stdout + stderr).includes(key.slice(8, 40)), words.join(' '));
  }
});

test('never repeats the password of an address that is given in a wrong place', async (t) => {
  const line = await withPartners(t, ['acme']);
  const address = 'postgres://us:hush@ed@network.example/network';
  for (const words of [
    [address],
    ['partners', 'list', address],
    ['keys', 'revoke', address],
    ['import', 'balances', address],
    ['backup', address],
  ]) {
    const { status, stdout, stderr } = await line.run(words);
    assert.ok(status !== 0, words.join(' '));
    assert.match(stderr, /us:\[password\]@network\.example/);
    assert.doesNotMatch(stdout + stderr, /hush|ed@/, words.join(' '));
  }
  const { stderr } = await run(['partners', 'list', '--database', 'network']);
  assert.match(stderr, /postgres:\/\/USER:PASSWORD@HOST/);
});

test('shows when a key was last used', async (t) => {
  const line = await withPartners(t, ['acme']);
  const old = await createKey(line);
  const { id } = await line.json<CreatedKey>('keys', 'rotate', old.id);
  await createKey(line);
  const before = '2026-06-01T12:34:00.000Z';
  const after = '2026-06-02T12:34:00.000Z';
  const uses = [
    { keyId: old.id, usedAt: before },
    { keyId: id, usedAt: after },
  ];
  await line.inside((store) => store.recordKeyUses(uses));
  assert.deepEqual(pluck(await listKeys(line), 'last_used_at'), [before, after, undefined]);
  const { stdout } = await line.run(['keys', 'list', '--partner', 'acme']);
  const table = stdout.split('\n').map((row) => row.split(/ {2,}/));
  assert.deepEqual(table[0], [
    ...['ID', 'KEY', 'SCOPES', 'STATUS', 'EXPIRES', 'LAST USED', 'CREATED', 'CREATED BY', 'NAME'],
  ]);
  assert.deepEqual(pluck(table.slice(1, 4), 5), [before, after, '-']);
  assert.equal(table[1]![1], `pn_live_…${old.key.slice(-4)}`);
});

test('lists the keys of all partners, and who created each and when', async (t) => {
  const line = await withPartners(t, ['acme', 'zenith']);
  const { id } = await createKey(line, '--actor', 'eve');
  await line.json('keys', 'create', '--partner', 'zenith', '--scope', 'BRANDS_READ');
  const [first, second] = await line.json<ListedKey[]>('keys', 'list');
  assert.deepEqual([first?.id, first?.created_by, second?.partner_id], [id, 'eve', 'zenith']);
  assert.match(second?.created_by ?? '', /^.+@.+$/);
  const { stdout } = await line.run(['keys', 'list']);
  assert.match(stdout, /^ID +PARTNER +KEY .* CREATED +CREATED BY +NAME\n.* acme .* eve +-\n/);
});

test('finds a key from standard input, and never prints it', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { id, key } = await createKey(line);
  const usedAt = '2026-06-01T12:34:00.000Z';
  await line.inside((store) => store.recordKeyUses([{ keyId: id, usedAt }]));
  const find = (input: string, ...words: string[]) => line.run(['keys', 'find', ...words], { input });
  const found = await find(`${key}\n`, '-', '--json');
  assert.partialDeepStrictEqual(JSON.parse(found.stdout), {
    id,
    partner_id: 'acme',
    status: 'active',
    last_used_at: usedAt,
  });
  const { stdout } = await find(key, '-');
  assert.match(
    stdout,
    new RegExp(`^Key ${id} belongs to partner acme\\.\nIt is active\\. Last use: ${usedAt}\\. `),
  );
  assertFailed(
    await find(newApiKey('production'), '-'),
    1,
    /^This database does not have this key\. Check --database\.\n$/,
  );
  assertFailed(await find(newApiKey('sandbox'), '-'), 1, /key of the sandbox environment/);
  assertFailed(await find(`${key} ${key}`, '-'), 1, /^Standard input is not an API key, or /);
  const asArgument = await find('', key);
  assertFailed(asArgument, 2, /^Pass - and write the key to standard input/);
  for (const text of [found.stdout, stdout, asArgument.stderr]) assert.ok(!text.includes(key.slice(8, 40)));
});
