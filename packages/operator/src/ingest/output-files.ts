/** The files that an import writes: rejected lines, and an undo file. */
import fs from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError, whyNotWritten } from '@partner-network/common/errors';
import { type Rejection, withHint } from './rejections.ts';

/** They hold records, so only this user can read them. */
const mode = 0o600;

export type RejectedFile = ReturnType<typeof openRejectedFile>;

/**
 * Opens a file that gets rejected lines, one JSON object each. Lines that it has already stay. `input` is the
 * file of the import: if it is the same file, it is not changed.
 */
export function openRejectedFile(path: string, input?: string) {
  const write = <Result>(work: () => Result) => attempt(`write the file of rejected lines ${path}`, work);
  const descriptor = write(() => fs.openSync(path, 'a', mode));
  const own = fs.fstatSync(descriptor);
  if (own.isFile()) {
    const other = input === undefined ? undefined : fs.statSync(input);
    if (other?.dev === own.dev && other.ino === own.ino) {
      fs.closeSync(descriptor);
      const why = 'cannot be the input and the file of rejected lines. Name another file.';
      throw new OperatorError(`${input} ${why}`);
    }
    write(() => fs.fchmodSync(descriptor, mode));
  }
  return {
    add: (line: number, errors: readonly Rejection[], text = ''): void => {
      const entry = { line, errors: errors.map(withHint), record: text };
      write(() => fs.writeFileSync(descriptor, `${JSON.stringify(entry)}\n`));
    },
    close: (): void => fs.closeSync(descriptor),
  };
}

/** Creates the file for the lines that take an import back. The store writes and syncs it. */
export function openUndoFile(path: string) {
  const descriptor = attempt(`create the undo file ${path}`, () => create(path));
  let isKept = false;
  return {
    descriptor,
    keep: (): void => {
      isKept = true;
    },
    /** Removes the file, unless it is kept, is not there any more, or another file has its name. */
    close: (): void => {
      const { ino } = fs.fstatSync(descriptor);
      fs.closeSync(descriptor);
      if (!isKept && fs.statSync(path, { throwIfNoEntry: false })?.ino === ino) fs.unlinkSync(path);
    },
  };
}

function create(path: string): number {
  const descriptor = fs.openSync(path, 'wx', mode);
  try {
    syncFolder(dirname(path));
  } catch (error) {
    fs.closeSync(descriptor);
    fs.unlinkSync(path);
    throw error;
  }
  return descriptor;
}

/** The name of a new file must survive a power failure, too. */
function syncFolder(path: string): void {
  const folder = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(folder);
  } finally {
    fs.closeSync(folder);
  }
}

function attempt<Result>(what: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new OperatorError(`Cannot ${what}: ${whyNotWritten(error)}.`, { cause: error });
  }
}
