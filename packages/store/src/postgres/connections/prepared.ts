import type { Client, FieldDef, Connection as Protocol } from 'pg';
import type { Row, Value } from '../../sql/statement.ts';
import type { Statement } from '../statements.ts';

/** The columns of the statements that a connection has prepared, by the name of the statement. */
export type Prepared = Map<string, readonly { name: string; parse: (text: string) => unknown }[]>;

/**
 * Runs a named statement. The server describes its columns when it prepares it. The query object of `pg`
 * asks for a description at each run: a page of brands then takes a fifth more CPU of the process, and 7 %
 * more of Postgres. `pg` calls the methods of this object while the server answers. It promises none of this:
 * `connection.test.ts` fails when a new version changes it.
 */
export function runPrepared(
  client: Client & { readonly prepared: Prepared },
  { name = '', text }: Statement,
  values: readonly Value[],
): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    const known = client.prepared.get(name);
    let columns = known ?? [];
    const rows: Row[] = [];
    client.query({
      submit(server: Protocol) {
        // All messages in one write.
        server.stream.cork();
        if (known === undefined) {
          // A first run that failed may have left the statement on the server, which then refuses its name.
          server.close({ type: 'S', name }, true);
          server.parse({ name, text, types: [] }, true);
          server.describe({ type: 'S', name }, true);
        }
        server.bind({ statement: name, values: values.map(asSent) }, true);
        server.execute(null, true);
        server.sync();
        server.stream.uncork();
      },
      handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }) {
        columns = fields.map(({ name, dataTypeID }) => ({ name, parse: client.getTypeParser(dataTypeID) }));
      },
      handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }) {
        const row: Record<string, unknown> = {};
        for (const [index, { name, parse }] of columns.entries()) {
          const field = fields[index]!;
          row[name] = field === null ? null : parse(field);
        }
        rows.push(row);
      },
      handleCommandComplete: () => client.prepared.set(name, columns),
      handleReadyForQuery: () => resolve(rows),
      handleError(error: Error) {
        // It may be invalid, as after a change of a column's type: the next run prepares it again.
        client.prepared.delete(name);
        reject(error);
      },
    });
  });
}

function asSent(value: Value): string | Buffer | null {
  if (typeof value === 'number') return String(value);
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}
