import { inside, type Span } from '../../src/tracing/span.ts';

interface Recorded {
  /** Names of all that was begun below it. */
  readonly begun: string[];
  readonly noted: Record<string, string | number>;
}

/** What a trace would tell of this work. */
export async function recorded(work: () => Promise<unknown>): Promise<Recorded> {
  const recording: Recorded = { begun: [], noted: {} };
  const span: Span = {
    traceId: '',
    note: (attributes) => void Object.assign(recording.noted, attributes),
    begin: (name) => {
      recording.begun.push(name);
      return span;
    },
    end: () => {},
  };
  await inside(span, work);
  return recording;
}
