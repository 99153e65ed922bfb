import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grant } from '../../../store/test/suite/records.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { assertFailed, commandLine, withPartners } from '../../../testkit/fixtures/run.ts';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

type Partner = Readonly<Record<string, string>>;

test('creates a partner with a new id or with the given id', async (t) => {
  const line = commandLine(t);
  const issued = await line.json<Partner>('partners create --name', 'Café "Ü" 🦊');
  assert.deepEqual(Object.keys(issued), ['id', 'name', 'created_at']);
  assert.match(issued.id!, /^PARTNER_[0-9a-f]{32}$/);
  assert.equal(issued.name, 'Café "Ü" 🦊');
  assert.match(issued.created_at!, time);
  const given = await line.json<Partner>('partners create --name Acme --id acme');
  assert.deepEqual({ ...given, created_at: '' }, { id: 'acme', name: 'Acme', created_at: '' });
  const again = ['partners', 'create', '--name', 'Other', '--id', 'acme', '--json'];
  await line.fails(again, 1, /acme already exists/);
  assert.deepEqual(await line.json('partners list'), [issued, given]);
});

test('disables and enables a partner, and disabling twice keeps the time of the first', async (t) => {
  const line = commandLine(t);
  const created = await line.json<Partner>('partners create --name Acme --id acme');
  const disabled = await line.json<Partner>('partners disable acme');
  assert.match(String(disabled.disabled_at), time);
  assert.deepEqual(disabled, { ...created, disabled_at: disabled.disabled_at });
  assert.deepEqual(await line.json('partners disable acme'), disabled);
  assert.deepEqual(await line.json('partners list'), [disabled]);
  const { stdout, stderr } = await line.run('partners list');
  assert.match(
    stdout,
    /^ID +NAME +STATUS +LIMITS +CREATED +DISABLED\nacme +Acme +disabled +default +\S+Z +\S+Z\n$/,
  );
  assert.equal(stderr, '');
  for (const _ of ['first', 'again']) assert.deepEqual(await line.json('partners enable acme'), created);
});

test('renames a partner; a second time changes nothing', async (t) => {
  const line = commandLine(t);
  const created = await line.json<Partner>('partners create --name Acme --id acme');
  for (const _ of ['first', 'again'])
    assert.deepEqual(await line.json('partners rename acme Ächme'), { ...created, name: 'Ächme' });
});

test("sets and removes a partner's own limits; a flag that is not given changes nothing", async (t) => {
  const line = commandLine(t);
  const created = await line.json<Partner>('partners create --name Acme --id acme');
  for (const [flags, limits] of [
    ['--brands 20', { brands: 20 }],
    ['--balances 10000', { brands: 20, balances: 10_000 }],
    ['--balances 10000', { brands: 20, balances: 10_000 }],
    ['--brands default', { balances: 10_000 }],
  ] as const) {
    assert.deepEqual(await line.json(`partners limit acme ${flags}`), { ...created, limits });
  }
  assert.match((await line.run('partners list')).stdout, / enabled +brands default, balances 10000 /);
  const { stdout } = await line.run('partners limit acme --balances default --brands 1');
  assert.match(
    stdout,
    /^Partner acme has these limits a second: brands 1, balances default\. This takes effect /,
  );
  await line.run('partners limit acme --brands default');
  assert.deepEqual(await line.json('partners list'), [created]);
  const entries = await line.json<{ details: object }[]>('audit list --action', 'partners limit');
  assert.equal(entries.length, 5);
  assert.deepEqual(entries[0]!.details, { from: { brands: 1 }, to: {} });
  await line.fails(['partners', 'limit', 'nobody', '--brands', '1'], 1, /no partner nobody/);
  for (const [flags, problem] of [
    ['', /Give --brands or --balances/],
    ...['0', '10001', '1.5', 'none'].map(
      (rate) => [`--brands ${rate}`, /whole number from 1 to 10000/] as const,
    ),
  ] as const) {
    await line.fails(`partners limit acme ${flags}`.trim().split(' '), 2, problem);
  }
});

test('a stored id that no address can name works as before, and no import brings one', async (t) => {
  const line = commandLine(t);
  await line.inside(async (store) => {
    await store.createPartner({ id: '.', name: ' ', created_at: createdAt }, byTest);
    await store.createGrant({ ...grant, id: '..', customer_id: '.', partner_id: '.' }, byTest);
  });
  const exported = await line.run('partners export');
  assertFailed(
    await line.run('partners import -', { input: exported.stdout }),
    1,
    /^line 1: id: INVALID_CHARACTER: Choose another id: /m,
    /^line 1: name: VALUE_EMPTY: /m,
  );
  assert.match((await line.run('export grants')).stdout, /^\{"id":"\.\.",.*"customer_id":"\."/);
  const revoked = await line.json<Partner>('grants revoke .. --customer .');
  assert.equal(revoked.status, 'REVOKED');
  assert.equal((await line.json<Partner>('partners rename . Dot')).name, 'Dot');
});

const endings = {
  'partners create --name New --id new': /^Created partner new \(New\)\. It is enabled and has no key\.\n/,
  'partners disable new': /^Partner new is disabled\. This takes effect /,
  'partners enable new': /^Partner new is enabled\. This takes effect /,
  'partners rename new Newer': /^Partner new has the name Newer\.\n/,
  'partners limit new --brands 2': /^Partner new has these limits a second: brands 2, balances default\. /,
  'grants create --partner new --customer c --id g --expires-at 2099-12-01T09:00:00Z':
    /\ng works until 2099-12-01 09:00 UTC\.\n/,
  'grants revoke g': /^Grant g is revoked\. This takes effect /,
  'admin-keys create --name ana --role ADMIN': /\nADMIN_KEY_\w+ works until it is revoked\.\n/,
};

test('each change ends with what is true now, and with the next step', async (t) => {
  const line = commandLine(t);
  for (const [words, ending] of Object.entries(endings)) {
    const { stdout } = await line.run(words);
    assert.match(stdout, ending);
    assert.match(stdout, /\nNext: [^\n]+\n$/, words);
  }
  const { stdout } = await commandLine(t).run('partners create --name Tried --environment sandbox');
  assert.match(stdout, /\nNext: "partner-network keys create .* --environment sandbox"\.\n$/);
});

test('says that a new key or grant of a disabled partner does not work', async (t) => {
  const line = await withPartners(t, ['acme']);
  const create = ['keys', 'create', '--partner', 'acme', '--scope', 'BRANDS_READ', '--json'];
  const { stdout } = await line.run(create);
  await line.run('partners disable acme');
  const remedy = 'Next: "partner-network partners enable acme".\n';
  for (const words of [
    create,
    ['keys', 'rotate', JSON.parse(stdout).id, '--json'],
    ['grants', 'create', '--partner', 'acme', '--customer', 'alice', '--json'],
  ]) {
    const { status, stdout, stderr } = await line.run(words);
    const sentence = `${JSON.parse(stdout).id} does not work: partner acme is disabled.\n${remedy}`;
    assert.deepEqual([status, stderr], [0, sentence]);
  }
  const shown = await line.run(create.filter((word) => word !== '--json'));
  assert.match(
    shown.stdout,
    /\nKEY_\w+ does not work: partner acme is disabled\.\nNext: .* enable acme"\.\n$/,
  );
  assert.equal(shown.stderr, '');
});
