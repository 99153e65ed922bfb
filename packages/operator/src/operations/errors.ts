import { OperatorError } from '@partner-network/common/operator-error';

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
