/** Checks this machine, and the instance at the operations address. */
import { statfsSync, statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { doctorBounds } from '@partner-network/common/bounds/operator';
import { asOne, type Finding, failed, ok, skipped, warning } from '@partner-network/common/finding';
import { originOf } from '@partner-network/common/text';
import { everyInterface, type ServeConfig } from '@partner-network/service/settings';
import type { Place } from '@partner-network/store/inspection';

export function checkOpenFiles(openFiles: number | undefined): Finding {
  if (openFiles === undefined) return ok('This system has no limit on open files.');
  const detail = `A process can open ${openFiles} files`;
  if (openFiles >= doctorBounds.openFiles) return ok(`${detail}.`);
  return warning(
    `${detail}, and each connection needs one.`,
    `Raise the limit to at least ${doctorBounds.openFiles} with ulimit -n, or with LimitNOFILE in systemd.`,
  );
}

/** Checks the free space on each disk once. */
export function checkDisk(places: readonly Place[]): Finding {
  if (places.length === 0) return skipped('The disk of a Postgres server cannot be checked from here.');
  const disks = Map.groupBy(places, ({ path }) => statSync(path).dev);
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

/** The numbers of receipts. */
type Counts = Readonly<Record<'waiting' | 'written' | 'dropped', number>>;

/** Whether the instance is ready and can write its receipts. */
export async function checkReceipts(config: Pick<ServeConfig, 'ops-host' | 'ops-port'>): Promise<Finding> {
  const host = everyInterface.includes(config['ops-host']) ? 'localhost' : config['ops-host'];
  const url = originOf(host, config['ops-port']);
  const first = await countsAt(url);
  if (first === undefined) {
    return skipped(`No instance answers at ${url}, so receipts that wait cannot be counted.`);
  }
  const ready = await get(`${url}/readyz`).catch(() => undefined);
  if (ready?.ok !== true) {
    const remedy = 'Read its log, which names the cause.';
    return failed(`The instance at ${url} is not ready: it answers 503.`, remedy);
  }
  if (first.waiting === 0) return judgeReceipts(first, first);
  // An instance writes its receipts every 250 ms.
  await wait(doctorBounds.receiptsLookMs);
  return judgeReceipts(first, (await countsAt(url)) ?? first);
}

/** Compares two looks. Receipts wait for a moment on every busy instance. */
export function judgeReceipts(first: Counts, second: Counts): Finding {
  const remedy = 'Read the log of the instance, and fix the disk or the database before you restart it.';
  if (first.waiting > 0 && second.waiting > 0 && second.written === first.written) {
    return failed(`${second.waiting} receipts wait in memory, because they cannot be written.`, remedy);
  }
  if (second.dropped > 0) {
    const what = 'receipts were lost since the instance started, because too many waited';
    return warning(`${second.dropped} ${what}.`, remedy);
  }
  return ok('The instance at the operations address writes its receipts.');
}

function get(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(doctorBounds.answerMs) });
}

/** The sum over all workers. Undefined if no instance answers, or if another program does. */
async function countsAt(url: string): Promise<Counts | undefined> {
  try {
    const response = await get(`${url}/metrics`);
    const lines = (await response.text()).split('\n');
    const sum = (name: string) => {
      const values = lines.filter((line) => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)));
      if (values.length === 0) throw new Error(`${name} is missing.`);
      return values.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
    };
    return {
      waiting: sum('partner_network_receipts_waiting'),
      written: sum('partner_network_receipts_written_total'),
      dropped: sum('partner_network_receipts_dropped_total'),
    };
  } catch {
    return undefined;
  }
}
