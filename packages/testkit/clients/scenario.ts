/** What a scenario is. Scenarios are data, because they are run against the client of each language. */
import type { ListingName } from '@partner-network/contract/operations';

export interface Scenario {
  /** What the client does. */
  readonly promise: string;
  readonly options?: Options;
  /** The calls of one client, one after the other. By default one walk over brands. */
  readonly calls?: readonly Call[];
  /** The responses of the server, in turn. */
  readonly answers: readonly ScriptedAnswer[];
  /** The queries that the server gets. By default any, one for each answer. */
  readonly queries?: readonly string[];
  /** The shortest time from each answer to the next request. */
  readonly waitsMs?: readonly number[];
  /** How each call ends. Only the fields that are given are compared. */
  readonly outcomes: readonly Outcome[];
}

export interface Options {
  readonly timeoutMs?: number;
  readonly maxRetries?: number;
  readonly maxRate?: number;
}

export interface Call {
  readonly listing?: ListingName;
  readonly params?: Readonly<Record<string, string | number>>;
}

/** What arrived before the call ended, and the error. A field that has no value is null. */
export interface Outcome {
  /** The ids of the records of each page. */
  readonly pages?: readonly (readonly string[])[];
  /** The cursor of the last page that arrived. */
  readonly cursor?: string | null;
  /** All records, as they are on the wire. */
  readonly records?: readonly object[];
  readonly error?: ErrorOutcome | null;
}

export interface ErrorOutcome {
  readonly kind: string;
  /** With the names of options in Python. */
  readonly message?: string;
  readonly status?: number;
  readonly category?: string | null;
  readonly code?: string | null;
  readonly field?: string | null;
  readonly detail?: string | null;
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | null;
  readonly errors?: readonly object[];
}

/** A response, or what happens instead of it. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: string | Buffer | object;
  /** Without this, the response is complete. */
  readonly fault?: ScriptedFault;
}

export type ScriptedFault =
  | 'cut before the answer'
  | 'reset before the answer'
  | 'cut in the head'
  | 'cut in the body'
  | 'cut in a chunk'
  | 'a chunk of a negative length'
  | 'an endless chunk of a negative length'
  | 'early hints'
  | 'a slow answer'
  | 'silence'
  | 'silence in the body'
  | 'a byte at a time'
  | 'endless body'
  | 'key in the error';

/** A page of brands with these ids. */
export function page(ids: readonly string[], cursor?: string | null): ScriptedAnswer {
  return { body: { brands: ids.map((id) => ({ id })), cursor } };
}

/** A refusal with one error record. */
export function refusal(status: number, category: string, code: string): ScriptedAnswer {
  return { status, body: { errors: [{ category, code }] } };
}

export const invalidCursor = refusal(400, 'INVALID_REQUEST_ERROR', 'INVALID_CURSOR');
