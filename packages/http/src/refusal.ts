import { httpBounds } from '@partner-network/common/bounds/http';
import {
  type AnyErrorCode,
  type ErrorRecord,
  errorRecord,
  everyError,
} from '@partner-network/contract/errors';
import { allowedMethods } from '@partner-network/contract/operations';

/**
 * An error response of the service. It is thrown, but it is not an Error: a stack costs more than the rest of
 * a refusal.
 */
export class Refusal {
  readonly status: number;
  /** The code of the first error. */
  readonly code: string;
  readonly errors: readonly AnyErrorRecord[];
  /** All headers except the common ones. Names and values alternate. */
  readonly headers: readonly string[];
  readonly body: string;

  /** Takes one error or more. The status is that of the catalogue, unless it is given. */
  constructor(errors: readonly AnyErrorRecord[], headers: readonly string[] = [], status?: number) {
    this.code = errors[0]!.code;
    this.status = status ?? everyError[this.code as AnyErrorCode].status;
    this.errors = errors;
    this.body = JSON.stringify({ errors });
    const type = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];
    const length = ['Content-Length', String(Buffer.byteLength(this.body))];
    const usual = headers.includes('Allow') ? [] : (headersOfStatus[this.status] ?? []);
    this.headers = [...type, ...length, ...usual, ...headers];
  }

  /** Its body as a page, and the headers of that. */
  as(body: string, headers: readonly string[]) {
    const others = this.headers.slice(this.headers.indexOf('Content-Length') + 2);
    const own = [
      'Cache-Control',
      'no-store',
      'Vary',
      'Accept',
      'Content-Length',
      `${Buffer.byteLength(body)}`,
    ];
    return { body, headers: [...headers, ...own, ...others] };
  }
}

/** Bodies of the administrative API also get the codes of imports. */
type AnyErrorRecord = Omit<ErrorRecord, 'code'> & { readonly code: string };

const headersOfStatus: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate', 'Bearer'],
  405: ['Allow', allowedMethods.join(', ')],
  503: ['Retry-After', String(httpBounds.retryAfterSeconds)],
};

/** Refusals without facts are made once: an unknown key takes 1.4 µs less. */
const plain: Partial<Record<AnyErrorCode, Refusal>> = {};

export function refusal(
  code: AnyErrorCode,
  facts?: Readonly<Record<string, string | number>>,
  field?: string,
): Refusal {
  if (facts !== undefined || field !== undefined) return new Refusal([errorRecord(code, facts, field)]);
  plain[code] ??= new Refusal([errorRecord(code)]);
  return plain[code];
}

/** A refusal with a sentence of its own, where that of the catalogue would mislead the client. */
export function refusalSaying(code: AnyErrorCode, detail: string, field?: string): Refusal {
  return new Refusal([{ ...errorRecord(code, {}, field), detail }]);
}

/** What /readyz says while the instance drains. The command `ready` recognizes it. */
export const drainingDetail = 'This instance is draining: it answers the last requests, and then stops.';
