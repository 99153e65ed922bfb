import assert from 'node:assert/strict';
import {
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { OperatorError } from '../../../common/src/errors.ts';
import { mountSmallDisk } from '../../../service/test/faults/scene/small-disk.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { toCreate, toServe } from '../../src/address.ts';
import { backUpSqlite } from '../../src/sqlite/backup.ts';
import { openSqlite } from '../../src/sqlite/open.ts';
import { receiptAt } from '../suite/receipts.ts';
import { connect } from './copies.ts';

/** A closed database with a partner and a receipt. */
async function madeDatabase(t: TestContext): Promise<{ path: string; target: string }> {
  const path = join(temporaryFolder(t), 'test.db');
  const store = openSqlite(path, 'sandbox', toCreate);
  await store.createPartner({ id: 'acme', name: 'Acme', created_at: createdAt }, byTest);
  await store.recordReceipts([receiptAt(0)]);
  await store.close();
  return { path, target: join(temporaryFolder(t), 'copy.db') };
}

function filesBeside(path: string): string[] {
  return readdirSync(dirname(path)).sort();
}

const neverInterrupted = () => () => {};

function backUp(path: string, target: string) {
  return backUpSqlite(path, 'sandbox', target, neverInterrupted);
}

function refusesToCopy(path: string, target: string, why: RegExp): Promise<void> {
  return assert.rejects(
    backUp(path, target),
    (error) => error instanceof OperatorError && why.test(error.message),
  );
}

test('copies the database and its receipts for the owner alone, and leaves nothing else', async (t) => {
  const { path, target } = await madeDatabase(t);
  const before = process.umask(0o000);
  t.after(() => process.umask(before));
  const { database, receipts } = await backUp(path, target);
  assert.deepEqual([database.file, receipts?.file], [target, `${target}-receipts`]);
  for (const { file, bytes } of [database, receipts!]) {
    assert.deepEqual([statSync(file).mode & 0o777, statSync(file).size], [0o600, bytes]);
  }
  assert.deepEqual(filesBeside(target), ['copy.db', 'copy.db-receipts']);
  assert.deepEqual(filesBeside(path), ['test.db', 'test.db-receipts']);

  const restored = openSqlite(target, 'sandbox', toServe);
  t.after(() => restored.close());
  assert.deepEqual(pluck(await restored.listPartners(), 'id'), ['acme']);
  assert.equal((await restored.listReceipts({ limit: 10 })).length, 1);
});

test('copies one snapshot, with the write-ahead log, and finishes while others write', async (t) => {
  const { path, target } = await madeDatabase(t);
  const writer = connect(t, path);
  writer.exec(`pragma synchronous = off;
    create table first (n integer, filler blob); insert into first values (0, zeroblob(2000000));
    create table last (n integer); insert into last values (0)`);
  let isCopying = true;
  const copying = backUp(path, target).finally(() => {
    isCopying = false;
  });
  let writes = 0;
  while (isCopying) {
    writes += 1;
    writer.exec(`begin; update first set n = ${writes}; update last set n = ${writes}; commit`);
    await new Promise(setImmediate);
  }
  await copying;
  assert.ok(writes > 1);
  const pairs = connect(t, target).prepare('select first.n as a, last.n as b from first, last');
  const { a, b } = pairs.get() as { a: number; b: number };
  assert.equal(a, b);
});

test('replaces no file and no link, even a broken one', async (t) => {
  const { path, target } = await madeDatabase(t);
  for (const taken of [target, `${target}-receipts`]) {
    for (const make of [() => writeFileSync(taken, 'precious'), () => symlinkSync('/not/there', taken)]) {
      make();
      const before = lstatSync(taken);
      await refusesToCopy(path, target, /already exists, and a backup overwrites nothing/);
      assert.equal(lstatSync(taken).ino, before.ino);
      assert.equal(lstatSync(taken).mtimeMs, before.mtimeMs);
      assert.equal(filesBeside(target).length, 1);
      rmSync(taken);
    }
  }
});

test('of two simultaneous backups to one file, the second fails and the first is complete', async (t) => {
  const { path, target } = await madeDatabase(t);
  const first = backUp(path, target);
  await refusesToCopy(
    path,
    target,
    /copy\.db\.partial already exists: another backup is running .* remove the folder/,
  );
  await first;
  assert.deepEqual(filesBeside(target), ['copy.db', 'copy.db-receipts']);
});

test('leaves nothing behind when a signal ends it', async (t) => {
  const { path, target } = await madeDatabase(t);
  let interrupt = () => {};
  const copying = backUpSqlite(path, 'sandbox', target, (cleanUp) => {
    interrupt = cleanUp;
    return () => {};
  });
  assert.deepEqual(filesBeside(target), ['copy.db.partial']);
  interrupt();
  assert.deepEqual(filesBeside(target), []);
  await assert.rejects(copying);
  assert.deepEqual(filesBeside(target), []);
});

test('names the file that does not fit on a full disk, and leaves nothing there', async (t) => {
  const disk = mountSmallDisk(1);
  if (typeof disk === 'string') return t.skip(disk);
  t.after(disk.remove);
  const { path } = await madeDatabase(t);
  disk.fillUp(8_192);
  const target = join(disk.folder, 'copy.db');
  await refusesToCopy(path, target, new RegExp(`^Cannot write ${target}: database or disk is full\\.$`));
  assert.deepEqual(filesBeside(target), ['filling']);
});

test('reports a damaged database, and makes no copy', async (t) => {
  const { path, target } = await madeDatabase(t);
  const { root } = connect(t, path)
    .prepare(`select rootpage as root from sqlite_master where name = 'api_keys_of_partner'`)
    .get() as { root: number };
  for (const damage of [() => overwrite(path, (root - 1) * 4_096), () => overwrite(path, 0)]) {
    damage();
    await refusesToCopy(path, target, /test\.db is damaged \(.*\)\. Nothing was copied\. Keep your backups/s);
    assert.deepEqual(filesBeside(target), []);
  }
});

test('reports that only the receipts are damaged, so that the database need not be restored', async (t) => {
  const { path, target } = await madeDatabase(t);
  overwrite(`${path}-receipts`, 0);
  await refusesToCopy(
    path,
    target,
    /test\.db-receipts is damaged .* The database itself is intact\. Stop the/s,
  );
  assert.deepEqual(filesBeside(target), []);
});

function overwrite(path: string, position: number): void {
  const descriptor = openSync(path, 'r+');
  writeSync(descriptor, Buffer.alloc(64, 0x5a), 0, 64, position);
  closeSync(descriptor);
}

test('does not migrate: the copy has the schema of the original', async (t) => {
  const { path, target } = await madeDatabase(t);
  connect(t, path).exec('pragma user_version = 77');
  await backUp(path, target);
  assert.equal(connect(t, target).prepare('pragma user_version').get()?.user_version, 77);
});

test('explains why it makes no copy', async (t) => {
  const { path, target } = await madeDatabase(t);
  const stranger = join(temporaryFolder(t), 'stranger.db');
  connect(t, stranger).exec('create table songs (name text)');
  await refusesToCopy(stranger, target, /belongs to another program/);
  await refusesToCopy(`${path}x`, target, /The database .*test\.dbx does not exist/);
  await refusesToCopy(path, join(dirname(target), 'away', 'copy.db'), /: its folder does not exist/);
  await refusesToCopy(path, `${dirname(target)}/away/`, /: its folder does not exist/);
  await refusesToCopy(path, dirname(target), /already exists/);
  await assert.rejects(
    backUpSqlite(path, 'production', target, neverInterrupted),
    /This is a sandbox database/,
  );
  assert.deepEqual(filesBeside(target), []);
});
