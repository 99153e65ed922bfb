import type { SQLInputValue } from 'node:sqlite';
import type { ImportResult, Missing } from '../../port.ts';

/** What is known of the rows in the table `staged`. */
export interface Staged {
  /** Whether all rows are in the order of the table, and no id is repeated. */
  readonly isSorted: boolean;
  readonly hasDeletions: boolean;
  /** Whether a row does not give `updated_at`. */
  readonly hasUntimed: boolean;
}

/** Rows to stage. `Staged` is about these rows and all before them. */
export interface Rows extends Staged {
  readonly count: number;
  /** The values of `stagedColumns`, one row after the other. */
  readonly values: readonly SQLInputValue[];
}

/** The outcomes of lines, and the number of records that were deleted because the file does not have them. */
export type Tally = Record<'written' | 'stale' | 'deleted' | 'missing', number>;

/** The statements for one kind of records. They add to a tally; lines without an outcome are unchanged. */
export interface KindWrites {
  /** The definitions of temporary tables besides `staged`. */
  readonly tables: readonly string[];
  /** Whether no record is stored, and no deletion is remembered. */
  isEmpty(): boolean;
  countMissing(): Missing;
  /** Deletes what was not staged and is not newer than the import. */
  deleteMissing(): void;
  /** Merges the staged rows into the table. Returns the lines that are rejected. */
  merge(staged: Staged): ImportResult['rejected'];
}
