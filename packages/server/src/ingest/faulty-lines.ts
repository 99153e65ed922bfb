import { ingestBounds } from '../bounds/ingest.ts';
import type { ImportFault } from './faults.ts';

export interface FaultyLine {
  readonly line: number;
  readonly errors: readonly ImportFault[];
}

export interface FaultyLines {
  add(line: FaultyLine): void;
  count(): number;
  /** In order. */
  readonly first: readonly FaultyLine[];
}

/** Counts all and remembers the first: every line of a file may be faulty. */
export function collectFaultyLines(most: number = ingestBounds.importReportedLines): FaultyLines {
  const first: FaultyLine[] = [];
  let count = 0;
  return {
    add: (line) => {
      count += 1;
      if (first.length < most) first.push(line);
    },
    count: () => count,
    first,
  };
}
