export type Value = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, unknown>>;

/** A statement with the values of its parameters $1, $2, … */
export type BoundStatement = readonly [text: string, ...values: Value[]];

/** Runs statements that both engines understand. Times are text, as in the API. */
export interface Sql {
  rows(...statement: BoundStatement): Promise<readonly Row[]>;
  /** Runs all statements in one transaction. */
  write(statements: readonly BoundStatement[]): Promise<void>;
}
