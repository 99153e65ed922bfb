/** A failure that a person at the command line can act on: its message is printed as it is, exit status 1. */
export class OperatorError extends Error {}
