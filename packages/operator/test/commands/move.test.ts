import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { Store } from '../../../store/src/port.ts';
import { exported } from '../../../store/test/suite/exports.ts';
import { grant, plainBalance, writeRows } from '../../../store/test/suite/records.ts';
import { byTest, fillFixture } from '../../../testkit/fixtures/fixture.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { assertFailed, commandLine, run, spawnCommand, withPartners } from '../../../testkit/fixtures/run.ts';
import { needsTerminal, onTerminal } from '../../../testkit/fixtures/terminal.ts';
import { connectTo } from '../../../testkit/servers/postgres.ts';
import { openTestDatabase } from '../../../testkit/service/database.ts';
import { importValues } from '../../src/ingest/import.ts';

/** More than fits into a pipe and the buffer of its reader. */
const many = Array.from({ length: 5_000 }, (_, index) => plainBalance('alice', `b${index + 10_000}`));

async function fillMany(store: Store): Promise<void> {
  await writeRows(store, 'balances', many);
}

async function databaseOfMany(t: TestContext, engine: string): Promise<string> {
  return (await openTestDatabase(t, 'many', fillMany, engine)).url;
}

/** Starts an export of balances. It is killed after the test. */
function spawnExport(t: TestContext, url: string, stdout?: number) {
  const words = ['export', 'balances', '--environment', 'sandbox', '--database', url];
  const child = spawnCommand(words, stdout === undefined ? {} : { stdout });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

for (const engine of ['sqlite', 'postgres']) {
  test(`prints every record into a slow pipe (${engine})`, async (t) => {
    const child = spawnExport(t, await databaseOfMany(t, engine));
    await once(child.stdout, 'readable');
    const [printed, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    assert.deepEqual([status, printed.split('\n').length], [0, many.length + 1]);
  });
}

test('ends quietly with status 0 if the reader of the pipe stops, as "| head" does', async (t) => {
  const child = spawnExport(t, await databaseOfMany(t, 'sqlite'));
  const remarks = text(child.stderr);
  await once(child.stdout, 'readable');
  child.stdout.destroy();
  const [status] = await once(child, 'close');
  assert.deepEqual([status, await remarks], [0, '']);
});

test('fails with status 1 and says that the output is incomplete when the database goes away', async (t) => {
  const { url, store } = await openTestDatabase(t, 'many', fillMany, 'postgres');
  const client = await connectTo(t, url);
  const child = spawnExport(t, url);
  const remarks = text(child.stderr);
  await once(child.stdout, 'readable');
  // An export that does not wait for its reader would be finished by now.
  assert.equal((await exported(store, 'balances')).length, many.length);
  const terminate = `
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction'`;
  await until(20_000, async () => (await client.query(terminate)).rowCount === 1);
  const [[status]] = await Promise.all([once(child, 'close'), text(child.stdout)]);
  assert.equal(status, 1);
  assert.match(await remarks, /^The output is incomplete\. .*\nThe database cannot .*\.\n$/);
});

const fullDisk = '/dev/full';
const limits = { skip: existsSync(fullDisk) ? false : 'there is no device that is always full' };

test('fails and says that the output is incomplete when the disk is full', limits, async (t) => {
  const url = await databaseOfMany(t, 'sqlite');
  const output = openSync(fullDisk, 'w');
  t.after(() => closeSync(output));
  const child = spawnExport(t, url, output);
  const remarks = text(child.stderr);
  const [status] = await once(child, 'close');
  assert.equal(status, 1);
  assert.match(await remarks, /^Cannot write the output \(ENOSPC.*\): it is incomplete\. .*\n$/);
});

test('prints the same lines with --json, and only the brands of the partner', async (t) => {
  const { url } = await openTestDatabase(t, 'fixture', fillFixture, 'sqlite');
  const words = ['export', 'brands', '--partner', 'zenith', '--environment', 'sandbox', '--database', url];
  const { status, stdout, stderr } = await run(words);
  assert.deepEqual([status, stderr], [0, '']);
  const lines = stdout.trimEnd().split('\n');
  assert.deepEqual(
    pluck(
      lines.map((line) => JSON.parse(line)),
      'id',
    ),
    ['b2', 'z1'],
  );
  assert.equal((await run([...words, '--json'])).stdout, stdout);
});

test('lets no record control the terminal, and keeps its bytes in a pipe', needsTerminal, async (t) => {
  const hostile = 'a\u009b2J\u202eb\u0085\u2028';
  const line = await withPartners(t, [hostile]);
  await line.inside(async (store) => {
    const brand = { id: hostile, name: hostile, reference_id: hostile, metadata: { [hostile]: hostile } };
    await importValues(store, 'brands', [brand], hostile);
    const ids = { id: hostile, customer_id: hostile };
    await importValues(store, 'balances', [{ ...ids, type: 'CHECKING', currency: 'USD', amount: 1 }]);
    await importValues(store, 'grants', [{ ...ids, partner_id: hostile }]);
  });
  for (const words of ['export brands', 'export balances', 'export grants', 'partners export']) {
    const { stdout } = await line.run(words);
    assert.ok(stdout.includes(hostile), words);
    const terminal = onTerminal(t, 80, [...words.split(' '), '--database', line.database]);
    assert.equal(await terminal.ended, 0);
    assert.match(terminal.shown(), /^[ -~]+\n$/, words);
    assert.match(terminal.shown(), /"a\\u009b2J\\u202eb\\u0085\\u2028"/, words);
    assert.deepEqual(JSON.parse(terminal.shown()), JSON.parse(stdout), words);
  }
});

test('warns of an empty export, which may come from a wrong database, with status 0', async (t) => {
  const line = await withPartners(t, ['acme']);
  const empty = commandLine(t);
  await empty.inside(async () => {});
  const nothing = (what: string) => `This database has no ${what}, so nothing was printed. Check `;
  for (const [on, words, what] of [
    [line, 'export brands --partner acme', 'brands of partner acme'],
    [line, 'export grants', 'grants'],
    [empty, 'partners export', 'partners'],
  ] as const) {
    const { status, stdout, stderr } = await on.run(words);
    assert.deepEqual([status, stdout, stderr.startsWith(nothing(what))], [0, '', true], stderr);
  }
  assert.equal((await line.run('partners export')).stderr, '');
});

/** The line, the field and the code of each rejection. */
function rejected(stderr: string): string {
  const lines = stderr.matchAll(/^line (\d+): (?:(\S+): )?([A-Z_]+): /gm);
  return Array.from(lines, (line) => line.slice(1).join(' ')).join();
}

test('imports no partners from a file with a wrong line, and reports the line', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { stdout: good } = await line.run('partners export');
  assert.match(good, /^\{"environment":"production","id":"acme",.*"keys":\[\]\}\n$/);
  const key = { id: '..', digest: 'AB', last_four: 'a-b', scopes: ['ALL'], created_at: 'now', key: 'k' };
  const bad = ['{', '5', '{"id":"x","keys":{}}', JSON.stringify({ ...JSON.parse(good), keys: [key, 7] })];
  const input = `${good.replaceAll('acme', 'new')}${bad.join('\n')}`;
  const refused = await line.run('partners import -', { input });
  assertFailed(refused, 1, /INVALID_CHARACTER: Choose another id: /, /^Nothing was written: 4 lines /m);
  assert.equal(
    rejected(refused.stderr),
    '2  INVALID_JSON,3  EXPECTED_OBJECT,4 keys INVALID_ENUM_VALUE,4 environment MISSING_REQUIRED_FIELD,' +
      '4 name MISSING_REQUIRED_FIELD,4 created_at MISSING_REQUIRED_FIELD,5 keys.0.created_at INVALID_TIME,' +
      '5 keys.0.key UNKNOWN_FIELD,5 keys.0.id INVALID_CHARACTER,5 keys.0.scopes INVALID_ENUM_VALUE,' +
      '5 keys.0.digest INVALID_ENUM_VALUE,5 keys.0.last_four INVALID_ENUM_VALUE,5 keys.1 EXPECTED_OBJECT,' +
      ['scopes', 'digest', 'last_four'].map((field) => `5 keys.1.${field} INVALID_ENUM_VALUE`).join(),
  );
  const ofSandbox = await line.run('partners import -', { input: good.replace('production', 'sandbox') });
  assertFailed(ofSandbox, 1, /^line 1: environment: INVALID_ENUM_VALUE: Set this field to production\./m);
  assert.equal((await line.run('partners export')).stdout, good);
  const tried = await line.run('partners import - --dry-run', { input: input.split('\n')[0]! });
  const none = '0 partners and 0 keys would';
  const counted = `1 partner and 0 keys would be created, ${none} be changed. ${none} stay unchanged.\n`;
  assert.deepEqual([tried.status, tried.stdout], [0, counted]);
  assert.equal((await line.run('partners export')).stdout, good);
  const missing = join(line.folder, 'missing.jsonl');
  await line.fails(`partners import ${missing}`, 1, /^Cannot read .*missing\.jsonl: the file does not exist/);
});

test('a dry run counts what the real run changes, and finds its conflicts', async (t) => {
  const line = await withPartners(t, ['acme', 'zenith']);
  const other = await withPartners(t, ['acme']);
  await line.json('keys create --partner acme --scope BRANDS_READ --actor eve');
  const { stdout: input } = await line.run('partners export');
  const bring = async (words: string) => {
    const { status, stdout, stderr } = await other.run(`partners import - ${words}`, { input });
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
  };
  const expected = {
    partners: 2,
    keys: 1,
    created: { partners: 1, keys: 1 },
    changed: { partners: 0, keys: 0 },
    unchanged: { partners: 1, keys: 0 },
    not_applied: [],
  };
  assert.deepEqual(await bring('--json --dry-run'), expected);
  assert.deepEqual(await bring('--json'), expected);
  assert.deepEqual((await bring('--json --dry-run')).unchanged, { partners: 2, keys: 1 });
  assert.equal((await other.json<{ created_by: string }[]>('keys list'))[0]?.created_by, 'eve');
  const wider = input.replace('"BRANDS_READ"', '"BRANDS_READ","BALANCES_READ"');
  const { stdout } = await other.run('partners import -', { input: wider });
  assert.match(stdout, /unchanged\. Not applied to 1 key: .* later expiry, .* --json lists them\./);
  const clash = { input: input.replace(/KEY_[0-9a-f]{32}/, 'KEY_0') };
  const said = /^Nothing was written: the database, or the file itself, has a key/;
  assertFailed(await other.run('partners import - --dry-run', clash), 1, said);
});

test('carries erasures to another database with their times, and says what it deleted', async (t) => {
  const line = await withPartners(t, ['acme']);
  const other = await withPartners(t, ['acme']);
  for (const { inside } of [line, other]) await inside((store) => store.createGrant(grant, byTest));
  assert.match((await line.run('export erasures')).stderr, /^This database has no erasures, /);
  await line.json('customers erase alice --yes');
  const { stdout: input } = await line.run('export erasures');
  assert.match(input, /^\{"customer_id":"alice","erased_at":"[^"]{23}Z"\}\n$/);

  const file = join(line.folder, 'erasures.jsonl');
  writeFileSync(file, input);
  const counts = { read: 1, erased: 1, balances: 0, grants: 1 };
  assert.deepEqual(await other.json(`import erasures ${file} --actor eve`), counts);
  const again = await other.run('import erasures -', { input });
  assert.equal(again.stdout, '1 read, 0 customers erased: deleted 0 balances and 0 grants.\n');
  assert.equal((await other.run('export erasures')).stdout, input);
  const [entry, ...more] = await other.json<object[]>('audit list --action', 'import erasures');
  const details = { erased: 1, balances: 0, grants: 1 };
  assert.partialDeepStrictEqual(entry, { actor: 'eve', target: 'customers', details });
  assert.doesNotMatch(JSON.stringify([entry, more]), /alice/);
  assert.equal(more.length, 0);
});

test('erases nothing if a line is wrong, and reports each wrong line', async (t) => {
  const line = await withPartners(t, ['acme']);
  await line.inside((store) => store.createGrant(grant, byTest));
  const at = new Date().toISOString();
  const ahead = new Date(Date.now() + 6 * 60_000).toISOString();
  const lines = [
    { customer_id: 'alice', erased_at: at },
    { customer_id: 'alice', erased_at: at, id: 'x' },
    { customer_id: 'alice', erased_at: 'yesterday' },
    { customer_id: 'alice', erased_at: ahead },
    { customer_id: '', erased_at: at },
    { customer_id: 'x'.repeat(129), erased_at: at },
    { customer_id: 'alice' },
  ];
  const input = `${lines.map((one) => JSON.stringify(one)).join('\n')}\n{`;
  const refused = await line.run('import erasures -', { input });
  const remedy = /^Nothing was written: 7 lines rejected\. FILE must be the output of "export erasures"\.$/m;
  assertFailed(refused, 1, /^line 4: .* ahead of the clock /m, remedy);
  assert.equal(
    rejected(refused.stderr),
    '2 id UNKNOWN_FIELD,3 erased_at INVALID_TIME,4 erased_at INVALID_TIME,5 customer_id VALUE_EMPTY,' +
      '6 customer_id VALUE_TOO_LONG,7 erased_at MISSING_REQUIRED_FIELD,8  INVALID_JSON',
  );
  assert.equal((await line.json<object[]>('grants list --customer alice')).length, 1);
  assert.equal((await line.run('export erasures')).stdout, '');
});
