import { OperatorError } from '@partner-network/common/errors';
import { DatabaseError } from 'pg';
import { AccessDenied, AlreadyExists, StoreLocked, StoreUnavailable } from '../../port.ts';

const uniqueViolation = '23505';
const insufficientPrivilege = '42501';
const lockNotAvailable = '55P03';
/** The class of errors about a value, whose messages repeat the value. */
const dataException = '22';

/**
 * SQLSTATEs, by class or in full, of a server that cannot answer now: no connection, rolled back by a
 * conflict, out of memory or disk, canceled or shutting down, I/O error, and a write to a server that has
 * become a standby.
 */
const unavailable = ['08', '40', '53', '57', '58', '25006'];

/**
 * SQLSTATEs after which a connection is not reused: shutting down, I/O error, and a read-only session, which
 * stays read-only after the database's setting has changed.
 */
const broken = ['57', '58', '25006'];

const connectionException = '08';

/** Messages of a coordinator that lost another node. They come as an internal error, without a SQLSTATE. */
const internalError = 'XX000';
const lostNode = new RegExp(
  '^(failure on connection marked as essential|could not connect to any active placements|' +
    'could not find an available connection|cannot connect to |terminating connection |' +
    'server closed the connection |connection not open|the database system is |' +
    'SSL SYSCALL error|SSL error|could not receive data )',
);

/** Messages of `pg` about a closed connection, which mean nothing to an operator. */
const closedConnection = /is not queryable$|^Connection terminated( unexpectedly)?$/;

/** Converts an error of the driver or the server. Drops the server's details, which may hold a whole row. */
export function translated(error: unknown): Error {
  if (error instanceof OperatorError || error instanceof AlreadyExists) return error;
  if (!(error instanceof DatabaseError)) {
    // An error of the driver: refused, reset, timed out. Its message names at most a host.
    const { message, code } = error as NodeJS.ErrnoException;
    const reason = closedConnection.test(message) ? 'the connection was lost' : message || code;
    return new StoreUnavailable(`The database cannot be reached (${reason}).`);
  }
  const { code = '' } = error;
  const full = code.startsWith(dataException) ? error.message.replace(/".*"/s, '"…"') : error.message;
  // The rest is a hint of the driver that a coordinator uses for its nodes.
  const message = full.split('\n')[0]!;
  if (message.includes('startup parameter')) {
    return new StoreUnavailable(
      `A connection pooler rejects our settings (${message}). Pass --prepared-statements off.`,
    );
  }
  if (code === insufficientPrivilege) return new AccessDenied(`The database denies access: ${message}.`);
  if (code === uniqueViolation) return new AlreadyExists('This id already exists.');
  const reason = `The database cannot answer now (${message}, ${code}).`;
  if (code === lockNotAvailable) return new StoreLocked(reason);
  if (hasLostNode(error) || unavailable.some((known) => code.startsWith(known)))
    return new StoreUnavailable(reason);
  return new Error(`The database refused a statement (${message}, ${code}).`);
}

function hasLostNode({ code, message }: DatabaseError): boolean {
  return code === internalError && lostNode.test(message);
}

/** Converts the error of a connection that could not be opened. Requests then get a 503. */
export function unreachable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const { message } = error as Error;
  if (error instanceof OperatorError) return new StoreUnavailable(message);
  const converted = translated(error);
  if (converted instanceof StoreUnavailable) return converted;
  return new StoreUnavailable(`The database refuses connections (${message}).`);
}

/** A statement got no answer in time. Its connection is closed. */
export const late = () => new Error('Query read timeout');

/**
 * False if the server rejected one statement and the connection can run the next one. A coordinator reports
 * with class 08 that it cannot reach another node. Its own connection then works on, unless it ends it.
 */
export function breaksConnection(error: unknown): boolean {
  if (error instanceof OperatorError || error instanceof AlreadyExists) return false;
  if (!(error instanceof DatabaseError)) return true;
  const { code = '', severity } = error;
  if (code.startsWith(connectionException)) return severity !== 'ERROR';
  // After a lost node: the coordinator may have up to 16 more connections to it that would fail, too.
  return hasLostNode(error) || broken.some((known) => code.startsWith(known));
}
