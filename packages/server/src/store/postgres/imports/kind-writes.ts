import type { QueryResult } from 'pg';
import type { ImportResult, Missing } from '../../port.ts';

export type Query = (text: string, values?: unknown[]) => Promise<QueryResult>;

export interface Staged extends Pick<Local, 'rows' | 'owned'> {
  /** Whether all rows are in the order of the table, and no id is repeated. */
  readonly isSorted: boolean;
  readonly hasRepeats: boolean;
  /** Whether a row might be older than a deletion or an erasure. */
  readonly hasGone: boolean;
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

export type Row = Readonly<Record<string, unknown>>;

/** Reads rows through a cursor, `size` at a time. A few rows need no cursor, and so only one round trip. */
export async function* fetched(
  query: Query,
  selection: string,
  { rows: count }: Local,
  size: number,
): AsyncGenerator<readonly Row[]> {
  if (count <= size) {
    yield (await query(selection)).rows;
    return;
  }
  await query(`declare lines no scroll cursor for ${selection}`);
  for (;;) {
    const { rows } = await query(`fetch ${size} from lines`);
    if (rows.length === 0) break;
    yield rows;
  }
  await query('close lines');
}

/** Types of the columns that are not text. Metadata is staged as text. */
export const types: Readonly<Record<string, string>> = {
  amount: 'bigint',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  deleted_at: 'timestamptz',
  is_timed: 'boolean',
};

/** A temporary table. */
export interface Local {
  readonly table: string;
  readonly rows: number;
  /** A condition for the rows of another table that have its keys: Citus then asks fewer nodes. */
  owned(table: string): string;
}

/**
 * Selects all rows of a temporary table. A subquery, because Citus sends its rows to the nodes. To join the
 * table itself, it would read the other table whole. The limit shows the planner how many rows there are: it
 * has no statistics of the table, and would read other tables whole for a few rows.
 */
export function all(columns: string, { table, rows }: Local): string {
  return `(select ${columns} from ${table} limit ${rows})`;
}

/** Selects the rows of a table that have a key of a temporary table. */
export function limitedTo(local: Local, table: string, key: string, columns: string): string {
  const isKey = `(${key}) in ${all(key, local)}`;
  return `(select ${key}, ${columns} from ${table} where ${local.owned(table)} and ${isKey})`;
}
