/** Why a database file cannot be opened, in words for an operator. */
import { dirname } from 'node:path';
import { OperatorError } from '@partner-network/common/errors';
import { StoreUnavailable } from '../port.ts';
import { isLocked } from './engine.ts';
import { errorOfWriting, isFull, nearestExisting } from './file.ts';

interface Failure {
  readonly code?: string;
  readonly errcode?: number;
  readonly message: string;
}

/** SQLITE_READONLY and SQLITE_CANTOPEN: SQLite does not say which of its files it is, and why. */
const barred: readonly number[] = [8, 14];
/** SQLITE_CORRUPT. */
const damaged = 11;

/** The error of opening `what`, such as "the database", at this path. */
export function cannotOpen(what: string, path: string, error: unknown): OperatorError {
  // The cause is the error of SQLite.
  const failure = (error instanceof StoreUnavailable ? error.cause : error) as Failure;
  const [reason, remedy = 'Correct the path.'] = explained(failure, path);
  return new OperatorError(`Cannot open ${what} ${path}: ${reason}. ${remedy}`, { cause: error });
}

function explained(failure: Failure, path: string): [reason: string, remedy?: string] {
  const { errcode, code, message } = failure;
  if (isFull(failure) || code === 'ENOSPC' || code === 'EDQUOT') {
    return ['its disk is full', 'Delete files that are not needed, or use a larger disk.'];
  }
  if (isLocked(errcode ?? 0)) {
    return ['another command, such as an import, locks it', 'Run the command again when that has ended.'];
  }
  if (((errcode ?? 0) & 0xff) === damaged) return [`it is damaged (${message})`, 'Restore a backup.'];
  if (code === 'EISDIR') return ['it is a folder'];
  if (code === undefined || !(errcode === undefined || barred.includes(errcode & 0xff))) return [message];
  const place = nearestExisting(path);
  // SQLite creates files beside the database.
  for (const each of place === path ? [path, dirname(path)] : [place]) {
    const denied = errorOfWriting(each);
    if (denied === 'EROFS') {
      return [`the disk of ${each} is mounted read-only`, 'Mount it with write access, or use another disk.'];
    }
    if (denied !== undefined) {
      const user = `this user (${process.getuid?.()})`;
      // Do not advise to change the owner of a folder further up, such as `/`: it belongs to others.
      if (each !== path && each !== dirname(path)) {
        const remedy = `Create ${dirname(path)} for this user, or correct the path.`;
        return [`${user} may not create a folder in ${each}`, remedy];
      }
      return [`${user} may not read and write ${each}`, 'Run as its owner, or make this user its owner.'];
    }
  }
  return errcode === undefined
    ? [`nothing can be created in ${place} (${code})`]
    : [message, 'Find the cause with "partner-network doctor".'];
}
