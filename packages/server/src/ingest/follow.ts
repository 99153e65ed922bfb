import { OperatorError } from '../lib/operator-error.ts';
import type { Accounts, Imports } from '../store/port.ts';
import { openCommits } from './commits.ts';
import type { ImportFault } from './faults.ts';
import { collectFaultyLines } from './faulty-lines.ts';
import {
  type CheckedRecord,
  createRecordCheck,
  type ImportReport,
  type Reading,
  type RecordOptions,
} from './import.ts';
import { createPatience, isOfStore, type PatienceOptions } from './retry.ts';

export interface FollowOptions extends PatienceOptions, RecordOptions {
  /** Told of each line that is skipped. */
  rejected(line: number, errors: readonly ImportFault[]): void;
}

/**
 * Reads for as long as lines come, and commits them as they do; a line that is not good is reported and
 * skipped. When it cannot go on it says up to which line everything is written.
 */
export async function followRecords(
  store: Imports & Pick<Accounts, 'findPartner'>,
  readings: AsyncIterable<readonly Reading[]>,
  options: FollowOptions,
): Promise<ImportReport> {
  const patiently = createPatience(options);
  const check = createRecordCheck({ findPartner: (id) => patiently(() => store.findPartner(id)) }, options);
  const commits = await openCommits(store, { ...options, patiently });
  const rejected = collectFaultyLines();
  let read = 0;

  async function take({ line, row, faults }: CheckedRecord): Promise<void> {
    read += 1;
    if (faults.length === 0) return commits.add(line, row);
    await commits.add(line);
    options.rejected(line, faults);
    rejected.add({ line, errors: faults });
  }

  let broken: unknown;
  try {
    for await (const some of readings) {
      for (const checked of await check(some)) await take(checked);
    }
  } catch (error) {
    broken = options.stop.signal.aborted && !isOfStore(error) ? undefined : error;
  }
  // What came before the feed was stopped or broke off is as good as ever.
  const { written, unchanged, line, failure } = await commits.close();
  if (failure ?? broken) throw withLine(failure ?? broken, line);
  return { read, written, unchanged, rejected_count: rejected.count(), rejected: rejected.first };
}

/** So that whoever feeds us knows where to go on. */
function withLine(error: unknown, line: number): Error {
  const { message } = error as Error;
  const told = line === 0 ? 'No line is written' : `Lines up to ${line} are written`;
  const sentence = `${message} ${told}: send all after that again.`;
  return isOfStore(error)
    ? new OperatorError(sentence, { cause: error })
    : new Error(sentence, { cause: error });
}
