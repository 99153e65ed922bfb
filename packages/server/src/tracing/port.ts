import type { Attributes, Span } from '../observability/span.ts';

/** The step of a caller's own trace that a request is a part of. */
export interface CallersSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

export interface Tracing {
  /** Which database it is, by the name that OpenTelemetry has for it. */
  readonly databaseSystem: string;
  /** Whether the next request is of the share that is traced. */
  isDue(): boolean;
  /** Begins the trace of a request. */
  begin(name: string, attributes: Attributes, caller: CallersSpan | undefined): Span;
  /** Sends what is left, and gives up on it after a while. */
  close(): Promise<void>;
}
