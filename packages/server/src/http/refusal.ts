import {
  type ErrorCode,
  type ErrorRecord,
  errorCatalogue,
  errorRecord,
} from '@partner-network/contract/errors';
import { allowedMethods } from '@partner-network/contract/operations';
import { httpBounds } from '../bounds/http.ts';

/**
 * An answer that is not the one asked for. It is thrown, but it is no fault of ours and no Error: nothing
 * reads its stack, and capturing one costs more than the rest of a refusal.
 */
export class Refusal {
  readonly status: number;
  readonly errors: readonly ErrorRecord[];
  /** Names and values in turn. */
  readonly headers: readonly string[];

  constructor(errors: readonly [ErrorRecord, ...ErrorRecord[]], headers: readonly string[] = []) {
    this.status = errorCatalogue[errors[0].code].status;
    this.errors = errors;
    this.headers = [...(headersOfStatus[this.status] ?? []), ...headers];
  }
}

const headersOfStatus: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate', 'Bearer'],
  405: ['Allow', allowedMethods.join(', ')],
  503: ['Retry-After', String(httpBounds.retryAfterSeconds)],
};

export function refusal(
  code: ErrorCode,
  facts?: Readonly<Record<string, string | number>>,
  field?: string,
): Refusal {
  return new Refusal([errorRecord(code, facts, field)]);
}
