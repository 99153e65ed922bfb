/** What an operator reads when a database file cannot be opened or created. */

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { OperatorError } from '../../../common/src/errors.ts';
import { temporaryFolder, unprivileged } from '../../../testkit/fixtures/lifetime.ts';
import { assertFailed, run } from '../../../testkit/fixtures/run.ts';
import { type OpenOptions, toServe, toUpdate } from '../../src/address.ts';
import { cannotOpen } from '../../src/sqlite/file.ts';
import { openSqlite } from '../../src/sqlite/open.ts';

const onLinux = { skip: process.platform !== 'linux' && 'needs /proc and /dev/full of Linux' };

/** Opens the file, and expects an error with this sentence. */
function assertCannotOpen(path: string, said: RegExp, options: OpenOptions = toUpdate): void {
  assert.throws(
    () => openSqlite(path, 'production', options),
    (error) => error instanceof OperatorError && said.test(error.message) && !error.message.includes('\n'),
  );
}

test('a full disk is named as such, also if it has no room for a log', onLinux, (t) => {
  assertCannotOpen('/dev/full', /^Cannot open the database \/dev\/full: its disk is full\. Delete files /);
  const path = join(temporaryFolder(t), 'test.db');
  const noRoom = Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 4874 });
  assert.match(cannotOpen('the database', path, noRoom).message, /its disk is full/);
});

test('a file that is not a database, and a path below one, are named as such and stay', (t) => {
  const letter = join(temporaryFolder(t), 'letter.txt');
  const text = 'This is a letter and no database. '.repeat(100);
  writeFileSync(letter, text);
  for (const path of [letter, join(letter, 'below.db')]) {
    assertCannotOpen(path, new RegExp(`^Cannot open the database ${path}`));
  }
  assert.equal(readFileSync(letter, 'utf8'), text);
  assert.deepEqual(readdirSync(dirname(letter)), ['letter.txt']);
});

test('a folder, a locked and a damaged database are named as such', (t) => {
  const folder = temporaryFolder(t);
  assertCannotOpen(folder, /: it is a folder\. Name a file\. Find/);
  // Opening would wait two seconds for a lock.
  const busy = Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
  const { message } = cannotOpen('the database', join(folder, 'test.db'), busy);
  assert.match(message, /: another command, such as an import, locks it\. Run the command again/);
  const path = join(folder, 'damaged.db');
  const damaged = new DatabaseSync(path);
  damaged.exec('create table a (b); create table c (d)');
  damaged.close();
  const file = readFileSync(path);
  writeFileSync(path, file.fill(255, 100, 4096));
  assertCannotOpen(path, /: it is damaged \(.*\)\. Restore a backup\.$/);
});

test('receipts of a newer program are refused, and the file is named', async (t) => {
  const path = join(temporaryFolder(t), 'test.db');
  await openSqlite(path, 'production', toUpdate).close();
  await openSqlite(path, 'production', toServe).close();
  const receipts = new DatabaseSync(`${path}-receipts`);
  receipts.exec('pragma user_version = 999');
  receipts.close();
  assertCannotOpen(path, /^Cannot open the receipts \S+: .* schema 999.* use the newer version/, toServe);
});

test('without write access, migrate, serve and sandbox say so', async (t) => {
  const user = unprivileged;
  const first = await run(['--version'], { user }).catch(() => undefined);
  if (first?.status !== 0) return t.skip('needs a checkout that other users may read');
  const folder = join(temporaryFolder(t), 'data');
  mkdirSync(folder);
  await openSqlite(join(folder, 'test.db'), 'production', toUpdate).close();
  if (user === undefined) chmodSync(join(folder, 'test.db'), 0o400);
  chmodSync(folder, 0o555);
  chmodSync(dirname(folder), 0o755);
  const before = readdirSync(folder);
  for (const words of [
    ['sandbox', '--port', '0', '--data', join(folder, 'below')],
    ['serve', '--port', '0', '--ops-port', '0', '--database', `sqlite:${join(folder, 'test.db')}`],
    ['migrate', '--database', `sqlite:${join(folder, 'new.db')}`],
  ]) {
    assertFailed(await run(words, { user }), 1, /^Cannot open .*: this user may not write there\. /);
  }
  assert.deepEqual(readdirSync(folder), before);
});
