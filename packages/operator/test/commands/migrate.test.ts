import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { assertFailed, commandLine, run } from '../../../testkit/fixtures/run.ts';
import {
  connectTo,
  emptyDatabase,
  emptyDatabaseOn,
  startPostgres,
  withoutOwnServers,
} from '../../../testkit/servers/postgres.ts';

test('brings a new database to the current schema; a second run changes nothing', async (t) => {
  const line = commandLine(t);
  const first = await line.json<{ environment: string; from: number; to: number }>('migrate');
  assert.deepEqual(first, { environment: 'production', from: 0, to: first.to });
  assert.deepEqual(await line.json('migrate'), { ...first, from: first.to });
  const { stdout } = await line.run('migrate');
  assert.match(stdout, /^The production database \/\S+\/test\.db already has the current schema, \d+\.\n$/);
  const created = await commandLine(t).run('migrate');
  assert.match(created.stdout, /^Created the production database \/\S+\/test\.db with schema \d+\.\n$/);
  assert.deepEqual([created.status, created.stderr], [0, '']);
});

test('every command fails with status 1 on a database of the other environment', async (t) => {
  const line = commandLine(t);
  await line.json('migrate --environment sandbox');
  for (const words of ['migrate', 'partners list', 'serve --port 0 --ops-port 0'])
    await line.fails(words, 1, /sandbox database.*--environment sandbox/);
});

test('other commands create no database, and print the path where it is missing', async (t) => {
  const line = commandLine(t);
  const missing = /^The database \/.* does not exist\. Correct --database and --environment, or create it /;
  for (const words of ['partners list', 'keys revoke KEY_1', 'import balances -'])
    await line.fails(words, 1, missing);
});

test("leaves another program's database unchanged", async (t) => {
  const path = join(temporaryFolder(t), 'other.db');
  const other = new DatabaseSync(path);
  other.exec('create table theirs (id)');
  other.close();
  const before = readFileSync(path);
  assertFailed(await run(['migrate', '--database', `sqlite:${path}`]), 1, /another program/);
  assert.deepEqual(readFileSync(path), before);
});

test('distributes only a Postgres database that has Citus, and changes no other one', async (t) => {
  const url = await emptyDatabase(t);
  const words = ['migrate', '--distribute', '--database', url];
  assertFailed(await run(words), 1, /^Nothing was changed: this database has no Citus\. .*superuser/);
  const { rows } = await (await connectTo(t, url)).query(`select to_regclass('settings') as found`);
  assert.equal(rows[0].found, null);
});

test('--roles also runs the SQL of the roles, as often as wanted', {
  skip: withoutOwnServers(),
}, async (t) => {
  // The roles belong to a whole server.
  const server = await startPostgres(t);
  await emptyDatabaseOn(server, 'network');
  const url = server.url('network');
  for (const _ of [1, 2]) {
    const { status, stderr } = await run(['migrate', '--roles', '--database', url]);
    assert.equal(status, 0, stderr);
  }
  const { stdout } = await run(['roles', '--json']);
  const names: string[] = JSON.parse(stdout).roles.map(({ name }: { name: string }) => name);
  const owner = await connectTo(t, url);
  const { rows } = await owner.query(
    `select name, has_table_privilege(name, 'settings', 'select') as "reads" from unnest($1::text[]) as name`,
    [names],
  );
  assert.deepEqual(
    rows,
    names.map((name) => ({ name, reads: true })),
  );
});
