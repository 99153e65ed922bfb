import { closeSync, fstatSync, fsyncSync, openSync, statSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError, whyNotWritten } from '@partner-network/common/errors';

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
