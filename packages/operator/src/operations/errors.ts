import { exitUsage } from '@partner-network/common/command-line/command';
import { ConclusiveError, OperatorError } from '@partner-network/common/operator-error';

/** Something that does not exist, with a remedy for the command line. */
export class Missing extends OperatorError {
  readonly what: string;

  constructor(what: string, id: string, remedy: string) {
    super(`There is no ${what} ${id}. ${remedy}`);
    this.what = what;
  }
}

/** The id belongs to something else. `what` completes the sentence "Choose another id: …". */
export class IdConflict extends OperatorError {
  readonly what: string;

  constructor(what: string) {
    super(`Choose another id: ${what}.`);
    this.what = what;
  }
}

export class ExpiryNotInFuture extends ConclusiveError {}

export function isPast(time: string | undefined): boolean {
  return time !== undefined && Date.parse(time) <= Date.now();
}

/** Refuses a new key or grant that would never work. A rotation would end the old key all the same. */
export function requireFuture(expiresAt: string | undefined): void {
  if (!isPast(expiresAt)) return;
  const message = 'The expiry is not in the future any more, so nothing was changed.';
  throw new ExpiryNotInFuture(message, { exitStatus: exitUsage });
}
