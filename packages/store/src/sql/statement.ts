export type Value = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, unknown>>;

/** A statement with the values of its parameters $1, $2, … */
export type BoundStatement = readonly [text: string, ...values: Value[]];

/**
 * The statements of a transaction. Each `yield` runs a statement and returns its rows. A generator, and not
 * an async function: on the embedded database, no other code of the process runs between two statements.
 */
export type Steps<Result> = () => Generator<BoundStatement, Result, readonly Row[]>;

/** Runs statements that both engines understand. Times are text, as in the API. */
export interface Sql {
  rows(...statement: BoundStatement): Promise<readonly Row[]>;
  /** Runs the steps in one transaction. An error rolls it back, and so does the end of a `try`. */
  transaction<Result>(steps: Steps<Result>, mode?: 'keep' | 'try'): Promise<Result>;
}

/** Where the engines differ in what operators manage. */
export interface Differences {
  /** Statements that take locks: these changes then wait for imports, or for each other. */
  readonly locks: Readonly<Record<'createGrant' | 'eraseCustomer' | 'rotateCursorKey', readonly string[]>>;
  /** Selects the time that cursor keys go by, as `now`. By default it is that of this machine. */
  readonly clock?: string;
  /** Selects the id of the oldest transaction that runs, as `oldest`, and the next id, as `next`. */
  readonly transactions: string;
  /**
   * Selects the columns of at most $2 audit entries whose numbers are in the ranges of the JSON list $3:
   * pairs of the first and the last number.
   */
  auditInRanges(columns: string): string;
}

/** The conditions of a query and the values of their parameters. */
export function createConditions() {
  const values: Value[] = [];
  const texts: string[] = [];
  const parameter = (value: Value) => `$${values.push(value)}`;
  /** Adds a condition if the value is given. */
  function add(value: Value | undefined, condition: (parameter: string) => string): void {
    if (value !== undefined) texts.push(condition(parameter(value)));
  }
  return {
    values,
    parameter,
    add,
    /**
     * Adds equalities, the most selective first. Each column has an index. That of the first field with a
     * value is used: the expression keeps the planner from using another one. Returns that field.
     */
    addEqual: (fields: Fields): string | undefined => {
      const used = Object.keys(fields).find((column) => fields[column] !== undefined);
      for (const [column, value] of Object.entries(fields)) {
        add(value, (equal) => `${column === used ? column : `${column} || ''`} = ${equal}`);
      }
      return used;
    },
    /** Adds the time span: from `since` on, and before `until`. */
    addSpan: (since: string | undefined, until: string | undefined): void => {
      add(since, (value) => `at >= ${value}`);
      add(until, (value) => `at < ${value}`);
    },
    text: () => (texts.length === 0 ? 'true' : texts.join(' and ')),
  };
}

type Fields = Readonly<Record<string, Value | undefined>>;

export function insert(table: string, columns: string, record: object): BoundStatement {
  const values = columns.split(', ').map((column) => (record as Fields)[column] ?? null);
  const numbers = values.map((_, index) => `$${index + 1}`);
  return [`insert into ${table} (${columns}) values (${numbers.join(', ')})`, ...values];
}

/** The records that a statement selects. */
export async function records<R>(rows: Sql['rows'], ...statement: BoundStatement): Promise<R[]> {
  return (await rows(...statement)).map(withoutNulls) as R[];
}

/** Removes fields that are null: an optional field without a value is absent. */
export function withoutNulls(row: Row): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
