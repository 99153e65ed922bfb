import { DatabaseError } from 'pg';
import { OperatorError } from '../../../lib/operator-error.ts';
import { AlreadyExists, StoreUnavailable } from '../../port.ts';

const uniqueViolation = '23505';
const insufficientPrivilege = '42501';

/**
 * SQLSTATEs of a server that cannot answer now, by class or in full: no connection, rolled back by a
 * conflict, out of resources or of disk, canceled or going down, a lock that was not to be had, an I/O error,
 * and a write to what has become a standby.
 */
const unavailable = ['08', '40', '53', '57', '55P03', '58', '25006'];

/** What the driver says of a connection that is no more: about itself, and nothing for an operator. */
const brokenOff = /is not queryable$|^Connection terminated( unexpectedly)?$/;

/**
 * The error in the port's terms. What the server says of it in detail is dropped: that may hold the values of
 * a whole row.
 */
export function translated(error: unknown): Error {
  if (error instanceof OperatorError) return error;
  if (!(error instanceof DatabaseError)) {
    // The driver's own errors: refused, reset, timed out. They name hosts at the most.
    const { message, code } = error as NodeJS.ErrnoException;
    const reason = brokenOff.test(message) ? 'the connection broke off' : message || code;
    return new StoreUnavailable(`The database cannot be reached (${reason}).`);
  }
  const { code = '' } = error;
  const message = withoutValue(error.message, code);
  if (message.includes('startup parameter')) {
    return new StoreUnavailable(`A pooler refuses our settings (${message}): try --prepared-statements off.`);
  }
  if (code === insufficientPrivilege) return new OperatorError(`The database says ${message}.`);
  if (code === uniqueViolation) return new AlreadyExists('That id is taken.');
  if (unavailable.some((known) => code.startsWith(known))) {
    return new StoreUnavailable(`The database cannot answer now (${message}, ${code}).`);
  }
  return new Error(`The database refused a statement (${message}, ${code}).`);
}

/** That a value is none of its type is told in words that repeat it. */
const dataException = '22';

function withoutValue(message: string, code: string): string {
  return code.startsWith(dataException) ? message.replace(/".*"/s, '"…"') : message;
}

/** Why a connection did not come about. Whatever that was, the database cannot be asked now. */
export function unreachable(error: unknown): StoreUnavailable {
  const { message } = error as Error;
  if (error instanceof StoreUnavailable) return error;
  if (error instanceof OperatorError) return new StoreUnavailable(message);
  const inOurTerms = translated(error);
  if (inOurTerms instanceof StoreUnavailable) return inOurTerms;
  return new StoreUnavailable(`The database refuses connections (${message}).`);
}

/**
 * SQLSTATEs after which a connection is no good: none, going down, an I/O error, and one that writes nothing,
 * which goes on so though the database's setting is another by now.
 */
const broken = ['08', '57', '58', '25006'];

/** Whether a connection is still good after this error: the server refused one statement, no more. */
export function isOfStatement(error: unknown): boolean {
  return error instanceof DatabaseError && !broken.some((known) => error.code?.startsWith(known));
}
