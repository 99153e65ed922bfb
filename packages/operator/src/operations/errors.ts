import { OperatorError } from '@partner-network/common/errors';
import { isPast } from '@partner-network/common/times';
import { ExpiryNotInFuture } from '@partner-network/store/port';

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

/** Refuses a new key or grant that would never work. */
export function requireFuture(expiresAt: string | undefined): void {
  if (isPast(expiresAt)) throw new ExpiryNotInFuture(false);
}
