import assert from 'node:assert/strict';

// biome-ignore lint/suspicious/noExplicitAny: a class of errors with any constructor.
type Kind<T> = abstract new (...values: any[]) => T;

/** The error that a call rejects with. If `kind` is given, it must be an error of this class. */
export function rejectionOf(call: PromiseLike<unknown>): Promise<unknown>;
export function rejectionOf<T>(call: PromiseLike<unknown>, kind: Kind<T>): Promise<T>;
export async function rejectionOf(call: PromiseLike<unknown>, kind?: Kind<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    if (kind !== undefined) assert.ok(error instanceof kind, String(error));
    return error;
  }
  throw new Error('It did not reject.');
}
