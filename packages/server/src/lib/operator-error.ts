/** An error that the operator can act on. The command line prints its message as it is and exits with 1. */
export class OperatorError extends Error {}
