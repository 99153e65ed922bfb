/** An error that the operator can act on. The command line prints its message unchanged and exits with 1. */
export class OperatorError extends Error {}

/** An error after which the operator knows the state: the command's `ifFailed` is not printed. */
export class ConclusiveError extends OperatorError {}
