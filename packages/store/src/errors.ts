import { setTimeout as wait } from 'node:timers/promises';
import { storeBounds } from '@partner-network/common/bounds/store';
import { ConclusiveError, OperatorError, Unavailable } from '@partner-network/common/errors';

/** The database cannot answer now: unreachable, locked, out of disk. */
export class StoreUnavailable extends Unavailable {}

/** Another process holds the lock. Nothing was changed, and a retry may succeed. */
export class StoreLocked extends StoreUnavailable {}

/** Repeats work that found a lock, and so changed nothing, for up to this many milliseconds. */
export async function whileLocked<Result>(work: () => Promise<Result>, forMs: number): Promise<Result> {
  const endMs = performance.now() + forMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!foundLock(error) || performance.now() >= endMs) throw error;
    }
    await wait(storeBounds.lockRetryMs);
  }
}

/** Also of an error that explains why a database cannot be opened. */
function foundLock(error: unknown): boolean {
  return error instanceof StoreLocked || (error as Error).cause instanceof StoreLocked;
}

/** The role of the database lacks a privilege. Nothing was changed. */
export class AccessDenied extends OperatorError {
  /** What the database says, as a sentence. */
  readonly denial: string;

  constructor(denial: string) {
    super(`${denial} Grant this privilege to the role, or use the role that owns the tables.`);
    this.denial = denial;
  }
}

export class AlreadyExists extends Error {}

/** A new key or grant would never work. Nothing was changed. */
export class ExpiryNotInFuture extends ConclusiveError {
  /** Whether no expiry was given: the lifetime of the old key has no future, because clocks differed. */
  readonly isInherited: boolean;

  constructor(isInherited: boolean) {
    const inherited =
      'The new key would have expired already, because the old key expires before its creation. ' +
      'Nothing was changed. Pass --expires-at.';
    const given = 'The expiry is not in the future any more, so nothing was changed.';
    super(isInherited ? inherited : given, { exitStatus: 2 });
    this.isInherited = isInherited;
  }
}
