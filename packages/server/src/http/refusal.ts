import {
  type ErrorCode,
  type ErrorRecord,
  errorCatalogue,
  errorRecord,
} from '@partner-network/contract/errors';
import { allowedMethods } from '@partner-network/contract/operations';
import { httpBounds } from '../bounds/http.ts';

/** An error answer. It is thrown, but it is not an Error: a stack costs more than the rest of a refusal. */
export class Refusal {
  readonly status: number;
  readonly errors: readonly [ErrorRecord, ...ErrorRecord[]];
  /** Names and values alternate. */
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

/** The first headers of every response. */
export function commonHeaders(requestId: string): string[] {
  return ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'];
}

/** The body of a refusal, and its headers except the common ones. Every error response is made here. */
export function errorResponse({ errors, headers }: Refusal): { headers: string[]; body: string } {
  const body = JSON.stringify({ errors });
  const ofBody = ['Content-Length', String(Buffer.byteLength(body)), ...headers];
  const type = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];
  return { headers: [...type, ...ofBody], body };
}
