import pg, { type Client, type FieldDef, type Connection as Protocol, type Submittable } from 'pg';
import type { Row, Value } from '../../sql/statement.ts';
import type { Statement } from '../statements.ts';

type Columns = readonly { readonly name: string; readonly parse: (text: string) => unknown }[];

/** The columns of the statements that a connection has prepared, by the name of the statement. */
export type Prepared = Map<string, Columns>;

type PreparingClient = Client & { readonly prepared: Prepared };
type Answer = PromiseWithResolvers<readonly Row[]>;

/**
 * Runs a named statement. The server describes its columns when it prepares it. The query object of `pg`
 * asks for a description at each run, which takes 1.2 to 1.4 times the CPU of reading a page. `pg` calls the
 * methods of this object while the server answers. It promises none of this: `connection.test.ts` fails when
 * a new version changes it.
 */
class Run implements Submittable {
  readonly #client: PreparingClient;
  readonly #statement: Statement;
  readonly #values: readonly Value[];
  readonly #answer: Answer;
  readonly #rows: Row[] = [];
  #columns: Columns | undefined;
  #prepares = false;

  constructor(client: PreparingClient, statement: Statement, values: readonly Value[], answer: Answer) {
    this.#client = client;
    this.#statement = statement;
    this.#values = values;
    this.#answer = answer;
  }

  submit(server: Protocol): void {
    const { name = '', text } = this.#statement;
    this.#columns = this.#client.prepared.get(name);
    const { stream } = server;
    // All statements that this connection gets in one turn of the event loop go out in one write.
    if (stream.writableCorked === 0) {
      stream.cork();
      setImmediate(() => stream.uncork());
    }
    this.#prepares = this.#columns === undefined;
    if (this.#prepares) {
      // A first run that failed may have left the statement on the server, which then refuses its name.
      server.close({ type: 'S', name }, true);
      server.parse({ name, text, types: [] }, true);
      server.describe({ type: 'S', name }, true);
    }
    server.bind({ statement: name, values: this.#values.map(asSent) }, true);
    server.execute(null, true);
    server.sync();
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: this.#client.getTypeParser(dataTypeID),
    }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (const [index, { name, parse }] of (this.#columns ?? []).entries()) {
      const field = fields[index]!;
      row[name] = field === null ? null : parse(field);
    }
    this.#rows.push(row);
  }

  handleCommandComplete(): void {
    // Columns of an earlier preparation may be out of date by now.
    if (this.#prepares) this.#client.prepared.set(this.#statement.name ?? '', this.#columns ?? []);
  }

  handleReadyForQuery(): void {
    this.#answer.resolve(this.#rows);
  }

  handleError(error: Error): void {
    // It may be invalid, as after a change of a column's type: the next run prepares it again.
    this.#client.prepared.delete(this.#statement.name ?? '');
    this.#answer.reject(error);
  }
}

// While statements share a connection, `pg` takes only queries of its own kind. Its constructor costs 1 µs.
Object.setPrototypeOf(Run.prototype, pg.Query.prototype);

export function runPrepared(
  client: PreparingClient,
  statement: Statement,
  values: readonly Value[],
): Promise<readonly Row[]> {
  const answer: Answer = Promise.withResolvers();
  client.query(new Run(client, statement, values, answer));
  return answer.promise;
}

function asSent(value: Value): string | Buffer | null {
  if (typeof value === 'number') return String(value);
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}
