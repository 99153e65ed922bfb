import { AsyncLocalStorage } from 'node:async_hooks';

/** Facts about a span. Never a key, a cursor, a parameter, an amount or the address of a client. */
export type Attributes = Readonly<Record<string, string | number>>;

/** A step of a traced request. */
export interface Span {
  readonly traceId: string;
  note(attributes: Attributes): void;
  /** Begins a step within this one: `client` if another service does the work. */
  begin(name: string, kind: 'client' | 'internal', attributes: Attributes): Span;
  /** Ends the step, with the type of its error if it failed. */
  end(fault?: string): void;
}

/** Set within traced requests only: without a collector it costs nothing. */
const current = new AsyncLocalStorage<Span>();

/** Does the work within this step. */
export function inside<Result>(span: Span, work: () => Result): Result {
  return current.run(span, work);
}

/** Does the work outside of any trace, for background work that a request only happens to start. */
export function outside<Result>(work: () => Result): Result {
  return current.exit(work);
}

/** Adds facts to the current step, if the request is traced. */
export function note(attributes: Attributes): void {
  current.getStore()?.note(attributes);
}

/** Does the work as a step of its own, if the request is traced. */
export async function traced<Result>(
  name: string,
  kind: 'client' | 'internal',
  attributes: Attributes,
  work: () => Promise<Result> | Result,
): Promise<Result> {
  const span = current.getStore()?.begin(name, kind, attributes);
  if (span === undefined) return work();
  try {
    const result = await inside(span, work);
    span.end();
    return result;
  } catch (error) {
    // Only the type: the message of an error may contain secrets.
    span.end(error instanceof Error ? error.constructor.name : 'Error');
    throw error;
  }
}
