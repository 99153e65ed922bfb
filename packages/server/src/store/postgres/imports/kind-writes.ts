import type { QueryResult } from 'pg';
import type { ImportResult, Missing } from '../../port.ts';

export type Query = (text: string, values?: unknown[]) => Promise<QueryResult>;

export interface Staged {
  /** Whether all rows are in the order of the table, and no id is repeated. */
  readonly isSorted: boolean;
  readonly hasRepeats: boolean;
  readonly rows: number;
  /** How many of the rows delete. */
  readonly deletions: number;
}

/** The outcomes of lines. Lines without an outcome are unchanged. */
export type Merged = Pick<ImportResult, 'written' | 'stale' | 'deleted' | 'rejected'>;

/** The statements for one kind of records, which read the table `staged`. */
export interface KindWrites {
  hasRepeats(): Promise<boolean>;
  countMissing(): Promise<Missing>;
  /** Deletes what was not staged and is not newer than `at`. Returns the number. */
  deleteMissing(at: string): Promise<number>;
  write(staged: Staged): Promise<Merged>;
}
