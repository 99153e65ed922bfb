/** On a full disk, an operator can still read the embedded database, and copy it to another disk. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mountSmallDisk } from '../../../service/test/faults/scene/small-disk.ts';
import { toCreate } from '../../../store/src/address.ts';
import { openSqlite } from '../../../store/src/sqlite/open.ts';
import { plainReceipt } from '../../../store/test/suite/records.ts';
import { fillFixture, keys } from '../../../testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { assertFailed, run } from '../../../testkit/fixtures/run.ts';

const reading = [
  'keys list',
  'keys find -',
  'admin-keys list',
  'partners list',
  'partners export',
  'grants list --partner acme',
  'export brands',
  'export balances',
  'export grants',
  'export erasures',
  'audit list',
  'receipts list',
  'usage list',
  'cursor-key list',
];

// From the second batch on, an import writes in a thread with its own connection.
const brands = Array.from(
  { length: 12_000 },
  (_, index) => `{"id":"n${index}","name":"n","reference_id":"r"}\n`,
);

const withoutLog: readonly string[] = [];
const scenes = [
  { left: 'all files closed', suffixes: withoutLog, noFiles: false },
  { left: 'all files closed, and no room for another file', suffixes: withoutLog, noFiles: true },
  // A process that is killed has no time to merge its log.
  { left: 'the logs of a killed process', suffixes: ['', '-wal', '-shm'], noFiles: false },
  { left: 'logs without an index', suffixes: ['', '-wal'], noFiles: false },
];

for (const { left, suffixes, noFiles } of scenes) {
  test(`all commands that read work on a full disk with ${left}`, async (t) => {
    const disk = mountSmallDisk(4);
    if (typeof disk === 'string') return t.skip(disk);
    t.after(disk.remove);
    const elsewhere = temporaryFolder(t);
    const path = join(disk.folder, 'test.db');
    const store = openSqlite(path, 'sandbox', toCreate);
    await fillFixture(store);
    await store.recordReceipts([plainReceipt]);
    const on = (words: string, input = keys.acme) =>
      run([...words.split(' '), '--database', `sqlite:${path}`, '--environment', 'sandbox'], { input });
    const expected: unknown[] = [];
    for (const words of reading) expected.push({ words, ...(await on(words)) });
    const names = [path, `${path}-receipts`].flatMap((file) => suffixes.map((suffix) => file + suffix));
    for (const name of names) copyFileSync(name, `${name}.copy`);
    await store.close();
    for (const name of names) renameSync(`${name}.copy`, name);
    disk.fillUp();
    if (noFiles) {
      const used = spawnSync('mount', ['-o', 'remount,nr_inodes=4', disk.folder], { encoding: 'utf8' });
      assert.equal(used.status, 0, used.stderr);
    }

    const found: unknown[] = [];
    for (const words of reading) found.push({ words, ...(await on(words)) });
    assert.deepEqual(found, expected);
    const { stdout } = await on('doctor');
    assert.match(stdout, /✗ disk .*(is full|can hold no more files)/);
    assert.match(stdout, /✓ database /);
    const copy = join(elsewhere, 'copy.db');
    assert.equal((await on(`backup ${copy}`)).status, 0);
    assert.ok(statSync(`${copy}-receipts`).size > 0);

    const file = join(elsewhere, 'brands.jsonl');
    writeFileSync(file, brands.join(''));
    const dryRun = await on(`import brands ${file} --partner acme --dry-run`);
    if (noFiles)
      assertFailed(dryRun, 1, /^Cannot open the database .* Find the cause with "partner-network doctor"/);
    else assert.match(dryRun.stdout, /^12000 read, 12000 would be written/, dryRun.stderr);
    // A command that writes says what to do. When the disk has room again, it works.
    assertFailed(await on('partners rename acme New'), 1, /disk is full|can hold no more files/);
    disk.makeRoom();
    if (!noFiles) assert.equal((await on('partners rename acme New')).status, 0);
  });
}
