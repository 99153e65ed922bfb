import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { adminRoles } from '@partner-network/contract/permissions';
import { newId } from '../../../common/src/ids.ts';
import {
  digestOfKey,
  environmentOfAdminKey,
  environmentOfKey,
  newAdminKey,
  newApiKey,
} from '../../../service/src/auth.ts';
import { byTest, keyWithoutLifetime } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { assertFailed, type CommandLine, run, withPartners } from '../../../testkit/fixtures/run.ts';

type Shown = Readonly<Record<string, string>>;

const future = '2999-01-01T00:00:00.000Z';
const past = '2001-01-01T00:00:00.000Z';
const usedAt = '2026-06-01T12:34:00.000Z';

const ofPartners = {
  group: 'keys',
  noun: 'key',
  create: 'keys create --partner acme --scope BRANDS_READ --name ci',
  about: { partner_id: 'acme', scopes: ['BRANDS_READ'] },
  idPrefix: 'KEY',
  environmentOf: environmentOfKey,
  newText: newApiKey,
  headings: /^ID +STATUS +PARTNER +SCOPES /,
  owner: (id: string) => `Key ${id} belongs to partner acme.`,
};

const administrative = {
  group: 'admin-keys',
  noun: 'administrative key',
  create: 'admin-keys create --role SUPPORT --name ci',
  about: { name: 'ci', role: 'SUPPORT' },
  idPrefix: 'ADMIN_KEY',
  environmentOf: environmentOfAdminKey,
  newText: newAdminKey,
  headings: /^ID +STATUS +ROLE /,
  owner: (id: string) => `This is the administrative key ${id} with the role SUPPORT.`,
};

/** Adds a key whose time has passed. No command creates one. */
async function addExpired(line: CommandLine, group: string): Promise<string> {
  const key = { ...keyWithoutLifetime(newId('OLD')), name: 'old', role: 'ADMIN', expires_at: past } as const;
  const digest = digestOfKey(key.id);
  await line.inside((store) =>
    group === 'keys' ? store.createKey(key, digest, byTest) : store.createAdminKey(key, digest, byTest),
  );
  return key.id;
}

for (const kind of [ofPartners, administrative]) {
  const { group, noun, create, about, idPrefix } = kind;
  const fields = ['id', 'key', ...Object.keys(about), 'environment'];

  test(`${group}: creates a key of the environment, which is shown once`, async (t) => {
    const line = await withPartners(t, ['acme']);
    const first = await line.json<Shown>(create);
    assert.deepEqual(Object.keys(first), fields);
    assert.match(first.id!, new RegExp(`^${idPrefix}_[0-9a-f]{32}$`));
    assert.equal(kind.environmentOf(first.key!), 'production');
    assert.partialDeepStrictEqual(first, { ...about, environment: 'production' });
    const second = await line.json<Shown>(create, '--expires-at', '2999-01-01T00:00:00+00:00');
    assert.deepEqual([Object.keys(second), second.expires_at], [[...fields, 'expires_at'], future]);
    const { stdout } = await line.run(create);
    assert.match(
      stdout,
      new RegExp(`^pna?_live_\\w{49}\n\nCreated ${noun} ${idPrefix}_\\w+\\. Copy the key now: `),
    );

    const rotated = await line.json<Shown>(`${group} rotate ${first.id}`);
    const secrets = [first.key!, rotated.key!].map((text) => text.slice(9));
    const later = [
      [0, `${group} list --json`],
      [0, `${group} list`],
      [0, 'audit list --json'],
      [1, `${group} revoke ${first.key}`],
      [2, `${create.replace(/ci$/, first.key!)}`],
      [0, `${group} revoke ${first.id} --json`],
      [0, `${group} revoke ${rotated.id}`],
      [1, `${group} rotate ${first.id} --json`],
    ] as const;
    const printed: string[] = [];
    for (const [status, words] of later) {
      const finished = await line.run(words);
      assert.equal(finished.status, status, words);
      printed.push(finished.stdout + finished.stderr);
    }
    const stored = readdirSync(line.folder).map((name) => readFileSync(join(line.folder, name), 'latin1'));
    for (const text of [...printed, ...stored])
      assert.ok(!secrets.some((secret) => text.includes(secret.slice(0, 20))), 'a secret shows');
  });

  test(`${group}: lists keys with their status, last use and creator`, async (t) => {
    const line = await withPartners(t, ['acme']);
    const active = await line.json<Shown>(create, '--expires-at', future, '--actor', 'eve');
    await line.inside((store) => store.recordKeyUses([{ keyId: active.id!, usedAt }]));
    const revoked = await addExpired(line, group);
    await line.json(`${group} revoke ${revoked}`);
    const expired = await addExpired(line, group);
    const keys = await line.json<Shown[]>(`${group} list`);
    assert.deepEqual(
      keys.map(({ id, name, status, expires_at }) => [id, name, status, expires_at]).toSorted(),
      [
        [active.id, 'ci', 'active', future],
        [revoked, 'old', 'revoked', past],
        [expired, 'old', 'expired', past],
      ].toSorted(),
    );
    const shown = keys.find(({ id }) => id === active.id);
    assert.partialDeepStrictEqual(shown, { ...about, created_by: 'eve', last_used_at: usedAt });
    const { stdout } = await line.run(`${group} list`);
    assert.match(stdout, kind.headings);
    assert.match(stdout, / LAST USED +EXPIRES +NAME +KEY +CREATED +CREATED BY\n/);
    const key = `pna?_live_…${active.key!.slice(-4)}`;
    const cells = `active .* ${usedAt} +${future} +ci +${key} +\\S+ +eve$`;
    assert.match(stdout, new RegExp(`^${active.id} +${cells}`, 'm'));
    assert.match(stdout, new RegExp(`^${revoked} +revoked .* - +${past} +old `, 'm'));
  });

  for (const [promise, words, overlapMs] of [
    ['24 hours by default', [], 24 * 3_600_000],
    ['the given overlap', ['--overlap', '90m'], 90 * 60_000],
    ['no time with an overlap of 0s', ['--overlap', '0s'], 0],
  ] as const) {
    test(`${group}: rotates to a new key alike; the old one works for ${promise}`, async (t) => {
      const line = await withPartners(t, ['acme']);
      const old = await line.json<Shown>(create);
      const before = Date.now();
      const key = await line.json<Shown>(`${group} rotate ${old.id}`, ...words);
      const after = Date.now();
      assert.deepEqual(Object.keys(key), fields);
      assert.ok(key.id !== old.id && key.key !== old.key);
      assert.partialDeepStrictEqual(key, about);
      const [oldNow, newNow] = await line.json<Shown[]>(`${group} list`);
      const end = overlapMs === 0 ? oldNow?.revoked_at : oldNow?.expires_at;
      const endMs = Date.parse(end!) - overlapMs;
      assert.ok(endMs >= before && endMs <= after);
      assert.deepEqual([oldNow?.status, newNow?.status], [overlapMs === 0 ? 'revoked' : 'active', 'active']);
      assert.deepEqual([newNow?.id, newNow?.name], [key.id, 'ci']);
    });
  }

  test(`${group}: revokes a key for good, and rotates no key that does not work`, async (t) => {
    const line = await withPartners(t, ['acme']);
    const { id } = await line.json<Shown>(create);
    const { stdout } = await line.run(`${group} rotate ${id}`);
    assert.match(
      stdout,
      new RegExp(
        `Created ${noun} (\\S+)\\. .*\n${id} works until 20.* UTC\\.\n\\1 works until it is revoked`,
      ),
    );
    const other = await line.json<Shown>(create);
    const atOnce = await line.run(`${group} rotate ${other.id} --overlap 0s`);
    assert.ok(atOnce.stdout.includes(`\n${other.id} is revoked.\n`), atOnce.stdout);
    const first = await line.json<Shown>(`${group} revoke ${id}`, '--reason', 'left the company');
    assert.equal(first.status, 'revoked');
    assert.deepEqual(await line.json(`${group} revoke ${id}`), first);
    const revoked = await line.run(`${group} revoke ${id}`);
    assert.match(
      revoked.stdout,
      /^(K|Administrative k)ey \w+ is revoked\. This takes effect on every instance .*\nNext: .* list --/,
    );
    const audit = await line.json<{ action: string; details: { reason?: string } }[]>(
      `audit list --target ${id}`,
    );
    assert.deepEqual(
      pluck(audit, 'action'),
      ['revoke', 'rotate', 'create'].map((verb) => `${group} ${verb}`),
    );
    assert.equal(audit[0]?.details.reason, 'left the company');

    const refused = await line.run(`${group} rotate ${id} --json`);
    const remedy = new RegExp(
      `${id} is revoked and cannot be rotated\\. .* "partner-network ${group} create"`,
    );
    assertFailed(refused, 1, remedy);
    assert.doesNotMatch(refused.stderr, /still works/);
    await line.fails(`${group} rotate ${await addExpired(line, group)}`, 1, /is expired/);
    for (const verb of ['rotate', 'revoke'])
      await line.fails(`${group} ${verb} x`, 1, new RegExp(`^There is no ${noun} x\\. `));
  });

  test(`${group}: a key whose lifetime cannot be inherited is rotated with an expiry only`, async (t) => {
    const line = await withPartners(t, ['acme']);
    const late = { ...keyWithoutLifetime('LATE'), name: 'ci', role: 'ADMIN' } as const;
    await line.inside(async (store) => {
      await store.createKey(late, digestOfKey('a'), byTest);
      await store.createAdminKey(late, digestOfKey('b'), byTest);
    });
    const expired = /^The new key would have expired already, .* Pass --expires-at\.\n$/;
    await line.fails(`${group} rotate LATE --overlap 0s`, 2, expired);
    assert.deepEqual(pluck(await line.json<Shown[]>(`${group} list`), 'status'), ['active']);
    const rotated = await line.json<Shown>(`${group} rotate LATE --expires-at ${future}`);
    assert.equal(rotated.expires_at, future);
  });

  test(`"keys find" names the owner of a leaked key, and never prints it (${group})`, async (t) => {
    const line = await withPartners(t, ['acme']);
    const { id = '', key = '' } = await line.json<Shown>(create);
    const find = (input: string, words = 'keys find -') => line.run(words, { input });
    const unused = await find(`${key}\n`);
    assert.ok(unused.stdout.startsWith(`${kind.owner(id)}\nIt is active. Last use: never. Created 20`));
    assert.ok(unused.stdout.endsWith(`\nRevoke it with "partner-network ${group} revoke ${id}".\n`));
    await line.inside((store) => store.recordKeyUses([{ keyId: id, usedAt }]));
    const found = await find(key, 'keys find - --json');
    assert.partialDeepStrictEqual(JSON.parse(found.stdout), { id, status: 'active', last_used_at: usedAt });
    assertFailed(await find(kind.newText('production')), 1, /^This database does not have this key\. Check/);
    assertFailed(await find(kind.newText('sandbox')), 1, /key of the sandbox environment/);
    assertFailed(await find(`${key} ${key}`), 1, /^Standard input is not an API key, or /);
    const asArgument = await find('', `keys find ${key}`);
    assertFailed(asArgument, 2, /^Pass - and write the key to standard input/);
    for (const text of [unused.stdout, found.stdout, asArgument.stderr])
      assert.ok(!text.includes(key.slice(9, 40)));
  });
}

test('creates test keys in a sandbox, keys of each scope and administrative keys of each role', async (t) => {
  const line = await withPartners(t, ['acme'], 'sandbox');
  const both = `${ofPartners.create} --scope BALANCES_READ --environment sandbox`;
  const key = await line.json<{ key: string; scopes: string[] }>(both);
  assert.deepEqual(key.scopes, ['BALANCES_READ', 'BRANDS_READ']);
  assert.equal(environmentOfKey(key.key), 'sandbox');
  for (const role of adminRoles) {
    const words = ['--name', 'Ana 🦊', '--role', role, '--environment', 'sandbox'];
    const created = await line.json<Shown>('admin-keys create', ...words);
    assert.partialDeepStrictEqual(created, { name: 'Ana 🦊', role, environment: 'sandbox' });
  }
});

test('lists the keys of one partner', async (t) => {
  const line = await withPartners(t, ['acme', 'zenith']);
  await line.json('keys create --partner acme --scope BRANDS_READ');
  const { id } = await line.json<Shown>('keys create --partner zenith --scope BRANDS_READ');
  const [key, ...others] = await line.json<Shown[]>('keys list --partner zenith');
  assert.deepEqual([key?.id, others], [id, []]);
  assert.match(key?.created_by ?? '', /^.+@.+$/);
  assert.match((await line.run('keys list --partner zenith')).stdout, /^ID +STATUS +SCOPES /);
});

test('never repeats a key that is given as an id, and never stores it as a name', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { key } = await line.json<Shown>(ofPartners.create);
  for (const start of [
    ...[
      'keys revoke',
      'keys rotate',
      'partners disable',
      'grants revoke',
      'import balances',
      'partners list',
    ],
    ...[
      'keys list --partner',
      'keys create --partner acme --scope BRANDS_READ --name',
      'partners create --name',
    ],
  ]) {
    for (const word of [key!, `--${key}`, `the_key_${key}`]) {
      const { status, stdout, stderr } = await line.run(`${start} ${word}`);
      assert.ok(status !== 0, start);
      assert.ok(!(stdout + stderr).includes(key!.slice(8, 40)), start);
    }
  }
});

test('never repeats the password of an address that is given in a wrong place', async (t) => {
  const line = await withPartners(t, ['acme']);
  for (const start of ['', 'partners list ', 'keys revoke ', 'import balances ', 'backup ']) {
    const words = `${start}postgres://us:hush@ed@network.example/network`;
    const { status, stdout, stderr } = await line.run(words);
    assert.ok(status !== 0, words);
    assert.match(stderr, /us:\[password\]@network\.example/);
    assert.doesNotMatch(stdout + stderr, /hush|ed@/, words);
  }
  const { stderr } = await run('partners list --database network');
  assert.match(stderr, /postgres:\/\/USER:PASSWORD@HOST/);
});
