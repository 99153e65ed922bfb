/** Refusals with the codes of imports, for what a body holds. */
import type { ErrorRecord } from '@partner-network/contract/errors';
import { maxErrors } from '@partner-network/contract/limits';
import { Refusal, refusalSaying } from '@partner-network/http/refusal';
import type { Rejection } from '../ingest/rejections.ts';

/** An error of a body or of a line, which never repeats a value. */
export function errorOfRejection({ code, detail, field }: Rejection) {
  const category: ErrorRecord['category'] = 'INVALID_REQUEST_ERROR';
  return { category, code, detail, ...(field !== undefined && { field }) };
}

/** Everything that is wrong with a body, at most 20 errors. */
export function refusalOfBody(rejections: readonly Rejection[]): Refusal {
  const errors = rejections.slice(0, maxErrors).map(errorOfRejection);
  return new Refusal(errors, [], 400);
}

/** What the path names does not exist. Its id is not repeated: it may be anything. */
export function notFound(detail: string): Refusal {
  return refusalSaying('NOT_FOUND', detail);
}
