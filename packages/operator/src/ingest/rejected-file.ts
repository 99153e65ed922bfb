import { closeSync, fchmodSync, fstatSync, openSync, type Stats, writeFileSync } from 'node:fs';
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
