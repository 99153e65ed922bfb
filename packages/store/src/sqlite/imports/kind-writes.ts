import type { SQLInputValue } from 'node:sqlite';
import type { ImportResult, Missing } from '../../port.ts';

/** What the rows of a segment are: lines with or without `updated_at`, deletions, or lines of grants. */
export type SegmentForm = 'timed' | 'untimed' | 'deletion' | 'grant';

/** Consecutive lines of one form. */
export interface Segment {
  readonly form: SegmentForm;
  /** The values of the rows, one row after the other. */
  readonly values: readonly SQLInputValue[];
  readonly rows: number;
  /** The number of the first line. The others follow it without a gap. */
  readonly line: number | null;
  /** Whether these rows and all before them are in the order of the table. */
  readonly isSorted: boolean;
  /** Whether one of these rows and all before them may have the id of another. */
  readonly mayRepeat: boolean;
}

/** The outcomes of lines, and the number of records that were deleted because the file does not have them. */
export type Tally = Record<'written' | 'stale' | 'deleted' | 'missing', number>;

/** The statements for one kind of records. They add to a tally; lines without an outcome are unchanged. */
export interface KindWrites {
  /** The definitions of temporary tables. */
  readonly tables: readonly string[];
  stage(segment: Segment): void;
  /** Deletes the staged rows. */
  clear(): void;
  /** Writes rows straight into the table. Returns false if they must be staged. */
  place(segment: Segment): boolean;
  countMissing(): Missing;
  /** Deletes what was not staged and is not newer than the import. */
  deleteMissing(): void;
  /** Writes the staged rows. Returns the lines that are rejected. */
  move(): ImportResult['rejected'];
}
