import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError, whyNotWritten } from '@partner-network/common/errors';
import { type Rejection, withHint } from './rejections.ts';

export type RejectedFile = ReturnType<typeof openRejectedFile>;

/** Opens a file that gets rejected lines, one JSON object each. Lines that it has already stay. */
export function openRejectedFile(path: string) {
  function attempt<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      const reason = whyNotWritten(error);
      throw new OperatorError(`Cannot write the file of rejected lines ${path}: ${reason}.`, {
        cause: error,
      });
    }
  }
  // Records may be confidential, so only this user can read them.
  const descriptor = attempt(() => openSync(path, 'a', 0o600));
  const own = fstatSync(descriptor);
  if (own.isFile()) attempt(() => fchmodSync(descriptor, 0o600));
  return {
    add: (line: number, errors: readonly Rejection[], text = ''): void =>
      attempt(() => {
        const entry = { line, errors: errors.map(withHint), record: text };
        writeFileSync(descriptor, `${JSON.stringify(entry)}\n`);
      }),
    isSameAs: ({ dev, ino }: Stats): boolean => own.isFile() && dev === own.dev && ino === own.ino,
    close: (): void => closeSync(descriptor),
  };
}

/** Creates the file for the lines that take an import back. The store writes and syncs it. */
export function openUndoFile(path: string) {
  const descriptor = create(path);
  return {
    descriptor,
    keep: (): void => closeSync(descriptor),
    /** Does nothing if the file is not there any more, or if another file has its name. */
    remove: (): void => {
      const { ino } = fstatSync(descriptor);
      closeSync(descriptor);
      if (statSync(path, { throwIfNoEntry: false })?.ino === ino) unlinkSync(path);
    },
  };
}

/** The name of a new file must survive a power failure, too. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function create(path: string): number {
  try {
    // Only this user can read it: it holds records.
    const descriptor = openSync(path, 'wx', 0o600);
    try {
      syncFolder(dirname(path));
    } catch (error) {
      closeSync(descriptor);
      unlinkSync(path);
      throw error;
    }
    return descriptor;
  } catch (error) {
    throw new OperatorError(`Cannot create the undo file ${path}: ${whyNotWritten(error)}.`, {
      cause: error,
    });
  }
}
