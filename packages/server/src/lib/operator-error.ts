/** An error that the operator can act on. The command line prints its message unchanged and exits with 1. */
export class OperatorError extends Error {}
