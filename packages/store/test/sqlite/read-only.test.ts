/** A database on a disk that is mounted read-only can be listed, exported and backed up. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { assertFinding, findingsOf } from '../../../operator/test/doctor/examined.ts';
import { mountSmallDisk } from '../../../service/test/faults/scene/small-disk.ts';
import { fillFixture } from '../../../testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { toCreate, toServe } from '../../src/address.ts';
import { backUpSqlite } from '../../src/sqlite/backup.ts';
import { openSqlite } from '../../src/sqlite/open.ts';
import { exported } from '../suite/exports.ts';
import { plainReceipt } from '../suite/records.ts';

/** A database with the fixture and a receipt on a disk that cannot be written. */
async function onReadOnlyDisk(t: TestContext, prepare: (path: string) => void) {
  const disk = mountSmallDisk(16);
  if (typeof disk === 'string') return void t.skip(disk);
  t.after(disk.remove);
  const path = join(disk.folder, 'test.db');
  const store = openSqlite(path, 'sandbox', toCreate);
  await fillFixture(store);
  await store.recordReceipts([plainReceipt]);
  const lines = await exported(store, 'balances');
  await store.close();
  prepare(path);
  const remounted = spawnSync('mount', ['-o', 'remount,ro', disk.folder], { encoding: 'utf8' });
  assert.equal(remounted.status, 0, remounted.stderr);
  return { path, lines, files: readdirSync(disk.folder) };
}

for (const [what, prepare] of [
  ['', () => {}],
  // A log that was emptied while the database was open, as in a snapshot of the disk.
  [' with an empty log', (path: string) => copyFileSync('/dev/null', `${path}-wal`)],
] as const) {
  test(`reads, exports and backs up a read-only database${what}, and refuses to write`, async (t) => {
    const made = await onReadOnlyDisk(t, prepare);
    if (made === undefined) return;
    const store = openSqlite(made.path, 'sandbox', {});
    t.after(() => store.close());
    assert.equal((await store.listPartners()).length, 3);
    assert.equal((await store.listReceipts({ limit: 2 })).length, 1);
    assert.deepEqual(await exported(store, 'balances'), made.lines);
    const by = { actor: 'test', action: 'partners create' } as const;
    const partner = { id: 'new', name: 'new', created_at: plainReceipt.at };
    await assert.rejects(
      store.createPartner(partner, by),
      /can only be read: .* its disk is mounted read-only/,
    );
    assert.throws(
      () => openSqlite(made.path, 'sandbox', toServe),
      /: EROFS: read-only file system.* Find the cause with "partner-network doctor"/,
    );

    const { privileges } = await findingsOf([
      '--database',
      `sqlite:${made.path}`,
      '--environment',
      'sandbox',
    ]);
    const said = /test\.db is mounted read-only, so serve cannot start/;
    assertFinding(privileges!, 'failed', said, /^Mount the disk with write access/);

    const copy = join(temporaryFolder(t), 'copy.db');
    await backUpSqlite(made.path, 'sandbox', copy, () => () => {});
    const restored = openSqlite(copy, 'sandbox', {});
    t.after(() => restored.close());
    assert.deepEqual(await exported(restored, 'balances'), made.lines);
    assert.equal((await restored.listReceipts({ limit: 2 })).length, 1);
    assert.deepEqual(readdirSync(join(made.path, '..')), made.files);
  });
}

test('does not read a database without the changes in its log', async (t) => {
  const made = await onReadOnlyDisk(t, (path) => {
    // A process that is killed leaves its log, and a copy of both files has no index of it.
    const source = new DatabaseSync(path);
    source.exec(`update partners set name = 'changed'`);
    for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, `${path}.copy${suffix}`);
    source.close();
    for (const suffix of ['', '-wal']) copyFileSync(`${path}.copy${suffix}`, `${path}${suffix}`);
    for (const suffix of ['', '-wal']) rmSync(`${path}.copy${suffix}`);
  });
  if (made === undefined) return;
  assert.throws(
    () => openSqlite(made.path, 'sandbox', {}),
    /test\.db-wal has changes that cannot be read here\. Copy both files to a folder/,
  );
});

test('an export of a symbolic link has what is still in the log beside the file', async (t) => {
  const [folder, elsewhere] = [temporaryFolder(t), temporaryFolder(t)];
  const store = openSqlite(join(folder, 'test.db'), 'sandbox', toCreate);
  t.after(() => store.close());
  await fillFixture(store);
  const link = join(elsewhere, 'test.db');
  symlinkSync(join(folder, 'test.db'), link);
  const linked = openSqlite(link, 'sandbox', {});
  t.after(() => linked.close());
  assert.deepEqual(await exported(linked, 'balances'), await exported(store, 'balances'));
});
