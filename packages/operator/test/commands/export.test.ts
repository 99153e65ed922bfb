import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { Store } from '../../../store/src/port.ts';
import { exported } from '../../../store/test/suite/exports.ts';
import { plainBalance, writeRows } from '../../../store/test/suite/records.ts';
import { fillFixture } from '../../../testkit/fixtures/fixture.ts';
import { commandLine, run, spawnCommand, withPartners } from '../../../testkit/fixtures/run.ts';
import { needsTerminal, onTerminal } from '../../../testkit/fixtures/terminal.ts';
import { until } from '../../../testkit/fixtures/until.ts';
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

test(
  'fails with status 1 and says that the output is incomplete when the disk is full',
  limits,
  async (t) => {
    const url = await databaseOfMany(t, 'sqlite');
    const output = openSync(fullDisk, 'w');
    t.after(() => closeSync(output));
    const child = spawnExport(t, url, output);
    const remarks = text(child.stderr);
    const [status] = await once(child, 'close');
    assert.equal(status, 1);
    assert.match(await remarks, /^Cannot write the output \(ENOSPC.*\): it is incomplete\. .*\n$/);
  },
);

test('prints the same lines with --json, and only the brands of the partner', async (t) => {
  const { url } = await openTestDatabase(t, 'fixture', fillFixture, 'sqlite');
  const words = ['export', 'brands', '--partner', 'zenith', '--environment', 'sandbox', '--database', url];
  const { status, stdout, stderr } = await run(words);
  assert.deepEqual([status, stderr], [0, '']);
  const ids = stdout.split('\n').slice(0, -1);
  assert.deepEqual(
    ids.map((line) => JSON.parse(line).id),
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
    const { stdout } = await line.run(words.split(' '));
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
  const cases = [
    [line, ['export', 'brands', '--partner', 'acme'], 'brands of partner acme'],
    [line, ['export', 'grants'], 'grants'],
    [empty, ['partners', 'export'], 'partners'],
  ] as const;
  for (const [on, words, what] of cases) {
    const { status, stdout, stderr } = await on.run(words);
    assert.deepEqual([status, stdout, stderr.startsWith(nothing(what))], [0, '', true], stderr);
  }
  assert.equal((await line.run(['partners', 'export'])).stderr, '');
});
