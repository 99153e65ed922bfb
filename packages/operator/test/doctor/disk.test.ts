import { test } from 'node:test';
import { mountSmallDisk } from '../../../service/test/faults/scene/small-disk.ts';
import { checkDisk, judgeDisk } from '../../src/doctor/machine.ts';
import { assertFinding } from './examined.ts';

const [mb, gb] = [1_048_576, 1_073_741_824];

test('a disk is full below 16 MB, and nearly full below a tenth and 10 GB', () => {
  for (const [freeBytes, allBytes, status, said] of [
    [15 * mb, 20 * mb, 'failed', /^It is full: 15 MB are left/],
    [16 * mb, 100 * mb, 'ok', /^It has 16 MB left/],
    [90 * mb, gb, 'warning', /^It is nearly full: 90 MB are left/],
    [9 * gb, 100 * gb, 'warning', /nearly full/],
    [11 * gb, 1_000 * gb, 'ok', /left/],
    [10 * gb, 20 * gb, 'ok', /left/],
  ] as const) {
    assertFinding(judgeDisk('It', freeBytes, allBytes), status, said, status === 'ok' ? undefined : /larger/);
  }
});

test('each disk is reported once, with what it holds, and the worst decides', async (t) => {
  const disk = mountSmallDisk(20);
  if (typeof disk === 'string') return t.skip(disk);
  t.after(disk.remove);
  disk.fillUp(5 * mb);
  const places = [
    { path: disk.folder, holds: 'the database' },
    { path: disk.folder, holds: 'receipts' },
    { path: '/', holds: 'temporary files' },
  ];
  const said =
    /^The disk of \S+ \(the database, receipts\) is full: 5 MB .* The disk of \/ \(temporary files\) /;
  assertFinding(checkDisk(places), 'failed', said, /larger disk/);
  assertFinding(checkDisk([]), 'skipped', /Postgres/);
});
