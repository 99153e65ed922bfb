/** An error that the operator can act on. The command line prints its message unchanged and exits with 1. */
export class OperatorError extends Error {}

/** An error that leaves nothing to assume: a command's warning of its failure is not printed. */
export class ConclusiveError extends OperatorError {}
