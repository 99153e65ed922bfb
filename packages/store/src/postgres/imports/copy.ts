/** Rows in the text format of COPY. */
import { finished } from 'node:stream/promises';
import { ingestBounds } from '@partner-network/common/bounds/operator';
import { DatabaseError } from 'pg';
import type { ImportRow } from '../../port.ts';
import type { Connection } from '../connections/connection.ts';
import { translated } from '../connections/errors.ts';

/** Runs statements. One is a `copy … from stdin`, which reads the text. */
export async function copy(connection: Connection, statements: string, text: string): Promise<void> {
  const { from } = await import('pg-copy-streams');
  await finished(connection.query(from(statements)).end(text));
}

/**
 * Whether a COPY met a row that exists. Citus reports every error of a node in a COPY as an internal one. If
 * it was another error, the staged rows fail with it again when they are written.
 */
function existsAlready(error: unknown): boolean {
  return error instanceof DatabaseError && ['23505', 'XX000'].includes(error.code!);
}

/** Copies lines into a table. Returns false, having written nothing, if one has the id of a stored row. */
export async function copyNew(
  connection: Connection,
  into: string,
  lines: readonly string[],
): Promise<boolean> {
  try {
    // One message for all three: separate round trips left the server idle for an eighth of the time.
    const statements = `savepoint batch; copy ${into} from stdin; release batch`;
    await copy(connection, statements, `${lines.join('\n')}\n`);
    return true;
  } catch (error) {
    if (!existsAlready(error)) throw translated(error);
    await connection.query('rollback to batch').catch(() => {
      // Without the savepoint, a node was lost before the copy.
      throw translated(error);
    });
    return false;
  }
}

/** The columns `is_timed`, `deleted_at` and `line`. */
function tailOf({ is_timed, deleted_at, line }: ImportRow, number: number): string {
  const isTimed = is_timed === 1 && deleted_at === undefined ? 't' : 'f';
  return `\t${isTimed}\t${deleted_at ?? '\\N'}\t${line ?? number}\n`;
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Writes a row in the text format of COPY: in 0.6 µs. With map, join and replace it takes 1.5 µs. */
function copyLine(row: ImportRow, columns: readonly string[]): string {
  let line = '';
  for (const column of columns) line += `${line && '\t'}${copyField(row[column])}`;
  return line;
}

function copyField(value: string | number | undefined): string | number {
  return typeof value === 'string' && /[\\\t\n\r]/.test(value)
    ? value.replace(/[\\\t\n\r]/g, (found) => escapes[found]!)
    : (value ?? '\\N');
}

/** Lines that are sent together. */
export interface Batch {
  readonly lines: string[];
  /** The values of each line that only the temporary table has. */
  readonly tails: string[];
  characters: number;
  deletions: number;
}

function newBatch(): Batch {
  return { lines: [], tails: [], characters: 0, deletions: 0 };
}

export type Outbox = ReturnType<typeof createOutbox>;

/** Collects rows in batches. The server reads a batch while the next one is collected. */
export function createOutbox(columns: readonly string[], send: (batch: Batch) => Promise<void>) {
  /** Rows that are not sent yet, and the batch that the server is reading. */
  let batch = newBatch();
  let sending = Promise.resolve();

  async function flush(): Promise<void> {
    await sending;
    if (batch.lines.length > 0) sending = send(batch);
    sending.catch(() => {});
    batch = newBatch();
  }

  return {
    /** Rows without a number are numbered after `sent`. Rejects if an earlier batch failed. */
    async add(rows: readonly ImportRow[], sent: number): Promise<void> {
      for (const row of rows) {
        const line = copyLine(row, columns);
        batch.lines.push(line);
        batch.tails.push(tailOf(row, sent + batch.lines.length));
        batch.characters += line.length;
        if (row.deleted_at !== undefined) batch.deletions += 1;
      }
      if (batch.characters >= ingestBounds.importCopyCharacters) await flush();
    },

    /** Sends all rows. Rejects if a batch failed. */
    async flushAll(): Promise<void> {
      await flush();
      await sending;
    },
  };
}
