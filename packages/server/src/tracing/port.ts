import type { Attributes, Span } from '../observability/span.ts';

/** The span of the client's own trace, from its `traceparent` header. */
export interface CallersSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

export interface Tracing {
  /** OpenTelemetry's name of the database engine. */
  readonly databaseSystem: string;
  /** Whether the next request is traced. */
  isSampled(): boolean;
  /** Begins the trace of a request. */
  begin(name: string, attributes: Attributes, caller: CallersSpan | undefined): Span;
  /** Sends the remaining spans, for at most `tracesCloseMs`. */
  close(): Promise<void>;
}
