import { closeSync, fsyncSync, openSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError } from '../lib/operator-error.ts';

/** Creates the file for the lines that take an import back. The store writes and syncs it. */
export function openUndoFile(path: string) {
  const descriptor = create(path);
  return {
    descriptor,
    keep: (): void => closeSync(descriptor),
    remove: (): void => {
      closeSync(descriptor);
      unlinkSync(path);
    },
  };
}

function create(path: string): number {
  try {
    // Only this user can read it: it holds records.
    const descriptor = openSync(path, 'wx', 0o600);
    // The name must survive a power failure, too.
    const folder = openSync(dirname(path), 'r');
    fsyncSync(folder);
    closeSync(folder);
    return descriptor;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'EEXIST' ? 'the file exists. Name a new file' : message;
    throw new OperatorError(`Cannot create the undo file ${path}: ${reason}.`, { cause: error });
  }
}
