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
