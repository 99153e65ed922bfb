import type { QueryResult } from 'pg';
import type { ImportKind, Missing } from '../../port.ts';
import type { UndoFile } from '../../sql/exports.ts';
import type { Merged } from '../../sql/imports.ts';
import type { Row } from '../../sql/statement.ts';

export type Query = (text: string, values?: unknown[]) => Promise<QueryResult>;

export interface Staged {
  readonly rows: number;
  /** Whether a row might be older than a deletion or an erasure. */
  readonly hasGone: boolean;
  /** Whether one of the rows deletes. */
  readonly hasDeletions: boolean;
  readonly overwrites: boolean;
  readonly undo: UndoFile | undefined;
  /** Whether the partners or customers are so few that Citus is asked for each of them. */
  readonly hasFewOwners: boolean;
}

/** The statements for one kind of records, which read the table `staged`. */
export interface KindWrites {
  /** The definitions of temporary tables besides `staged`. */
  readonly tables: readonly string[];
  countMissing(): Promise<Missing>;
  /** Deletes what was not staged and is not newer than `at`. Returns the number. */
  deleteMissing(at: string, undo: UndoFile | undefined): Promise<number>;
  write(staged: Staged): Promise<Merged>;
}

/** Reads rows through a cursor, `size` at a time. A few rows need no cursor, and so only one round trip. */
export async function* fetched(
  query: Query,
  selection: string,
  count: number,
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
};

/** Joins each row with its row of a table. The limit keeps the planner from joining in another way. */
export function lookUp(table: string, alias: string, on: string): string {
  return `left join lateral (select * from ${table} ${alias} where ${on} limit 1) ${alias} on true`;
}

/** "PNet", and a number for each kind of records. */
const lock = 0x504e6574;
const numbers: Readonly<Record<ImportKind, number>> = { brands: 1, balances: 2, grants: 3 };

/**
 * Takes a lock on all records of a kind until the transaction ends. Updates of records share it. A
 * transaction that needs to know that nobody adds a record, such as a deletion, takes it exclusively.
 */
export function importLock(kind: ImportKind, mode: 'shared' | 'exclusive'): string {
  const suffix = mode === 'shared' ? '_shared' : '';
  return `select pg_advisory_xact_lock${suffix}(${lock}, ${numbers[kind]})`;
}
