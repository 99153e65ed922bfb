import { statfsSync, statSync } from 'node:fs';
import { doctorBounds } from '@partner-network/common/bounds/operator';
import { asOne, type Finding, failed, ok, skipped, warning } from '@partner-network/common/finding';
import type { Place } from '@partner-network/store/inspection';

/** Checks the free space on each disk once. */
export function checkDisk(places: readonly Place[]): Finding {
  if (places.length === 0) return skipped('The disk of a Postgres server cannot be checked from here.');
  const disks = new Map<number, Place[]>();
  for (const place of places) {
    const { dev } = statSync(place.path);
    disks.set(dev, [...(disks.get(dev) ?? []), place]);
  }
  return asOne([...disks.values()].map(checkOne));
}

function checkOne(places: readonly Place[]): Finding {
  const { path } = places[0]!;
  const { bavail, blocks, bsize, files, ffree } = statfsSync(path);
  const what = `The disk of ${path} (${places.map(({ holds }) => holds).join(', ')})`;
  // Some file systems do not count files.
  if (files > 0 && ffree === 0) return failed(`${what} can hold no more files.`, makeRoom);
  return judgeDisk(what, bavail * bsize, blocks * bsize);
}

const makeRoom = 'Use a larger disk, or delete files that are not part of the database.';
/** Deleting receipts needs room for the log of the change. */
const orPrune = `${makeRoom} While there is room, "receipts prune" helps, too.`;

/** A share alone is not enough: 5 % of a disk of 1 TB last for a long time. */
export function judgeDisk(what: string, freeBytes: number, allBytes: number): Finding {
  const free = `${(freeBytes / 1_048_576).toFixed(0)} MB`;
  if (freeBytes < doctorBounds.diskFullBytes) {
    return failed(`${what} is full: ${free} are left. Imports and receipts cannot be written.`, makeRoom);
  }
  const isNearlyFull =
    freeBytes < allBytes * doctorBounds.diskShare && freeBytes < doctorBounds.diskSpaciousBytes;
  return isNearlyFull
    ? warning(`${what} is nearly full: ${free} are left.`, orPrune)
    : ok(`${what} has ${free} left.`);
}
