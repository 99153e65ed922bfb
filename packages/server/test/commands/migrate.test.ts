import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { assertFailed, commandLine, run } from '../../../testkit/fixtures/run.ts';

interface Migrated {
  readonly environment: string;
  readonly from: number;
  readonly to: number;
}

test('brings a new database to the current schema; a second run changes nothing', async (t) => {
  const line = commandLine(t);
  const first = await line.json<Migrated>('migrate');
  assert.deepEqual(Object.keys(first), ['environment', 'from', 'to']);
  assert.deepEqual([first.environment, first.from], ['production', 0]);
  assert.ok(first.to >= 1);
  assert.deepEqual(await line.json('migrate'), { ...first, from: first.to });
});

test('prints a sentence without --json', async (t) => {
  const line = commandLine(t);
  const first = await line.run(['migrate']);
  assert.match(first.stdout, /production database went from schema 0 to \d+\.\n$/);
  const { status, stdout, stderr } = await line.run(['migrate']);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  assert.match(stdout, /is current: schema \d+\.\n$/);
});

test('fails with status 1 on a database of the other environment, whatever the command', async (t) => {
  const line = commandLine(t);
  await line.json('migrate', '--environment', 'sandbox');
  for (const words of [['migrate'], ['partners', 'list'], ['serve', '--port', '0', '--ops-port', '0']]) {
    assertFailed(await line.run(words), 1, /sandbox database.*--environment sandbox/);
  }
});

test('fails with status 1 on a schema of a newer program', async (t) => {
  const line = commandLine(t);
  await line.json('migrate');
  const db = new DatabaseSync(line.databasePath);
  db.exec('pragma user_version = 999');
  db.close();
  assertFailed(await line.run(['migrate', '--json']), 1, /schema 999/);
});

test('fails with status 1 on a file that is no database', async (t) => {
  const { folder } = commandLine(t);
  const path = join(folder, 'letter.txt');
  writeFileSync(path, 'Dear database, '.repeat(100));
  assertFailed(
    await run(['migrate', '--database', `sqlite:${path}`]),
    1,
    /Cannot open the database .*letter\.txt/,
  );
});

test('a command that needs a database creates none, and says where it looked', async (t) => {
  const line = commandLine(t);
  for (const words of [
    ['partners', 'list'],
    ['keys', 'revoke', 'KEY_1'],
    ['import', 'balances', '-'],
  ]) {
    assertFailed(await line.run(words), 1, /^There is no database \/.*"partner-network migrate" makes one/);
  }
});

test("leaves another program's database as it is", async (t) => {
  const path = join(temporaryFolder(t), 'other.db');
  const other = new DatabaseSync(path);
  other.exec('create table theirs (id)');
  other.close();
  const before = readFileSync(path);
  assertFailed(await run(['migrate', '--database', `sqlite:${path}`]), 1, /another program's/);
  assert.deepEqual(readFileSync(path), before);
});
