import { AsyncLocalStorage } from 'node:async_hooks';

/** What is told of a step. Never a key, a cursor, a parameter, an amount or an address of a caller. */
export type Attributes = Readonly<Record<string, string | number>>;

/** A step of a request that is traced. OpenTelemetry, behind it, is known to two files of this room alone. */
export interface Span {
  readonly traceId: string;
  note(attributes: Attributes): void;
  /** Begins a step that is a part of this one: one that others are asked for, or one of our own. */
  begin(name: string, kind: 'client' | 'internal', attributes: Attributes): Span;
  /** Ends it, with a word for the fault that it ended by. */
  end(fault?: string): void;
}

/** Entered by requests that are traced, and by nothing else: without a collector it costs nothing. */
const underWay = new AsyncLocalStorage<Span>();

/** Does the work as this step: what it begins is a part of it. */
export function inside<Result>(span: Span, work: () => Result): Result {
  return underWay.run(span, work);
}

/** Adds to the step that is under way, if there is one. */
export function note(attributes: Attributes): void {
  underWay.getStore()?.note(attributes);
}

/** Does the work as a step of its own, if what it is a part of is traced. */
export async function traced<Result>(
  name: string,
  kind: 'client' | 'internal',
  attributes: Attributes,
  work: () => Promise<Result> | Result,
): Promise<Result> {
  const span = underWay.getStore()?.begin(name, kind, attributes);
  if (span === undefined) return work();
  try {
    const result = await inside(span, work);
    span.end();
    return result;
  } catch (error) {
    // The name of its kind alone: what an error says may hold what nobody else should see.
    span.end(error instanceof Error ? error.constructor.name : 'Error');
    throw error;
  }
}
