/** An error that the operator can act on. The command line prints its message unchanged. */
export class OperatorError extends Error {
  /** The exit status of the command. */
  readonly exitStatus: number;

  constructor(message: string, options: ErrorOptions & { readonly exitStatus?: number } = {}) {
    super(message, options);
    this.exitStatus = options.exitStatus ?? 1;
  }
}

/** An error after which the operator knows the state: the command's `ifFailed` is not printed. */
export class ConclusiveError extends OperatorError {}

/** A signal has ended the command, which has cleaned up. */
export class InterruptedError extends OperatorError {
  readonly signal: NodeJS.Signals;

  constructor(message: string, signal: NodeJS.Signals) {
    super(message);
    this.signal = signal;
  }
}

/** A part that the service needs, such as its database, cannot answer now. The client gets a 503. */
export class Unavailable extends Error {}

/** Why a file of the operator could not be written, and what to do. */
export function whyNotWritten(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    ENOENT: 'its folder does not exist. Create the folder, or correct the path',
    ENOTDIR: 'a part of its path is not a folder. Correct the path',
    EISDIR: 'it is a folder. Name a file',
    EACCES: 'this user may not write there. Change the permissions, or name another path',
    EEXIST: 'the file exists. Name a new file',
  };
  return known[code] ?? message;
}
