import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { OperatorError } from '../lib/operator-error.ts';
import type { ImportFault } from './faults.ts';

export type RejectedFile = ReturnType<typeof openRejectedFile>;

/** Opens a file that gets rejected lines, one JSON object each. Lines that it has already stay. */
export function openRejectedFile(path: string) {
  function attempt<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      const { message } = error as Error;
      throw new OperatorError(`Cannot write the file of rejected lines ${path}: ${message}.`, {
        cause: error,
      });
    }
  }
  // Records may be confidential, so only this user can read them.
  const descriptor = attempt(() => openSync(path, 'a', 0o600));
  const before = fstatSync(descriptor).size;
  return {
    add: (line: number, errors: readonly ImportFault[], text = ''): void =>
      attempt(() => {
        const bytes = Buffer.from(`${JSON.stringify({ line, errors, record: text })}\n`);
        for (let sent = 0; sent < bytes.length; ) sent += writeSync(descriptor, bytes, sent);
      }),
    /** Removes the lines of this import. */
    startOver: (): void => attempt(() => ftruncateSync(descriptor, before)),
    close: (): void => closeSync(descriptor),
  };
}
