import { headerValues } from '../http/request.ts';
import type { CallersSpan } from './port.ts';

/** Version 00 of W3C Trace Context, the only one that there is; ids of zeros alone mean none. */
const traceParent = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** What a caller says that its request is a part of: once, and as it must be written, or not at all. */
export function callersSpan(rawHeaders: readonly string[]): CallersSpan | undefined {
  const given = headerValues(rawHeaders, 'traceparent');
  const [, traceId, spanId, flags] = (given.length === 1 && traceParent.exec(given[0]!)) || [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}
