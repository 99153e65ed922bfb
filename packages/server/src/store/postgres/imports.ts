import { finished } from 'node:stream/promises';
import type { QueryResult } from 'pg';
import { ingestBounds } from '../../bounds/ingest.ts';
import { AlreadyExists, type ImportKind, type ImportPace, type ImportRow, type Imports } from '../port.ts';
import { createOrderCheck, importColumns, upsert } from '../sql/imports.ts';
import type { Connection } from './connections/connection.ts';
import { translated } from './connections/errors.ts';

/** Types of the columns that are not text. Metadata is staged as text. */
const types: Readonly<Record<string, string>> = {
  amount: 'bigint',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  expires_at: 'timestamptz',
};

/** Memory to sort a million lines; with the default of 4 MB Postgres sorts on disk. */
const writeSettings = `set local work_mem = '64MB'`;

export function createImports(connect: () => Promise<Connection>): Imports {
  return {
    beginImport: async (kind, pace = 'slow') => {
      const connection = await connect();
      const columns = importColumns[kind].all.map((name) => `${name} ${types[name] ?? 'text collate "C"'}`);
      try {
        await run(connection, `create temporary table staged (line bigint, ${columns.join(', ')})`);
      } catch (error) {
        await connection.leave();
        throw error;
      }
      return createRun(kind, pace, connection);
    },
  };
}

function translate(error: unknown): never {
  throw translated(error);
}

function run(connection: Connection, text: string): Promise<QueryResult> {
  return connection.query(text).catch(translate);
}

/** Runs statements, one of which is a `copy … from stdin` that reads the text. */
async function copy(connection: Connection, statements: string, text: string): Promise<void> {
  const { from } = await import('pg-copy-streams');
  await finished(connection.query(from(statements)).end(text)).catch(translate);
}

/**
 * Imports rows of one kind in one transaction, in one of two ways:
 *
 *     staged    rows go to a temporary table, and `write` merges them at the end: a slow feed holds no lock
 *     direct    rows go straight to the table, which takes half the time, because each is written once
 *
 * A fast import begins direct. From its first batch with a row that exists already, it is staged.
 */
function createRun(kind: ImportKind, pace: ImportPace, connection: Connection) {
  const { all } = importColumns[kind];
  const checkOrder = createOrderCheck(kind);
  let isDirect = pace === 'fast';
  let isBegun = false;
  let isSorted = true;
  /** Rows that were written directly, and rows that were staged. */
  let placed = 0;
  let staged = 0;
  /** Lines that are not sent yet, and the batch that the server is reading. */
  let lines: string[] = [];
  let characters = 0;
  let sending = Promise.resolve();

  async function begin(): Promise<void> {
    if (!isBegun) await run(connection, `begin; ${writeSettings}`);
    isBegun = true;
  }

  /** Writes lines directly. Returns false, having written nothing, if a row exists already. */
  async function place(batch: readonly string[]): Promise<boolean> {
    await begin();
    try {
      // One message for all three: separate round trips left the server idle for an eighth of the time.
      const statements = `savepoint batch; copy ${kind} (${all.join(', ')}) from stdin; release batch`;
      await copy(connection, statements, batch.join(''));
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
      await run(connection, 'rollback to batch');
      return false;
    }
    placed += batch.length;
    return true;
  }

  async function send(batch: readonly string[]): Promise<void> {
    isDirect &&= await place(batch);
    if (isDirect) return;
    const numbered = batch.map((line, index) => `${staged + index}\t${line}`);
    await copy(connection, 'copy staged from stdin', numbered.join(''));
    staged += batch.length;
  }

  /** Starts to send all lines after the batch before them. Rejects if that batch failed. */
  async function flush(): Promise<void> {
    await sending;
    if (lines.length > 0) sending = send(lines);
    sending.catch(() => {});
    lines = [];
    characters = 0;
  }

  return {
    stage: async (rows: readonly ImportRow[]) => {
      isSorted = checkOrder(rows);
      for (const row of rows) {
        const line = copyLine(row, all);
        lines.push(line);
        characters += line.length;
      }
      if (characters >= ingestBounds.importCopyCharacters) await flush();
    },
    write: async (mode: 'keep' | 'try') => {
      await flush();
      await sending;
      await begin();
      const written = placed + (staged === 0 ? 0 : await writeStaged(kind, isSorted, connection));
      // Autovacuum skips temporary tables, so deleted rows would pile up: truncate.
      if (mode === 'keep') await run(connection, 'truncate staged');
      await run(connection, mode === 'keep' ? 'commit' : 'rollback');
      const counts = { written, unchanged: placed + staged - written };
      // After a trial of a slow import the staged rows are still there: they were staged before it began.
      if (mode === 'keep' || pace === 'fast') staged = 0;
      placed = 0;
      isDirect = pace === 'fast';
      isBegun = false;
      return counts;
    },
    // Closing the connection drops the table and rolls back an unfinished transaction.
    end: () => connection.leave(),
  };
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Writes a row in the text format of COPY. */
function copyLine(row: ImportRow, columns: readonly string[]): string {
  return `${columns.map((column) => copyField(row[column])).join('\t')}\n`;
}

function copyField(value: string | number | undefined): string | number {
  return typeof value === 'string'
    ? value.replace(/[\\\t\n\r]/g, (found) => escapes[found]!)
    : (value ?? '\\N');
}

/**
 * Merges the staged rows into the table and returns the number of changes. A statement cannot update a row
 * twice, so if an id is repeated, its lines are first reduced to one.
 */
async function writeStaged(kind: ImportKind, isSorted: boolean, connection: Connection): Promise<number> {
  const query = (text: string) => run(connection, text);
  const identity = importColumns[kind].identity.join(', ');
  const repeated = `select 1 from staged group by ${identity} having count(*) > 1 limit 1`;
  if (isSorted || (await query(repeated)).rowCount === 0) {
    const order = isSorted ? '' : `order by ${identity}`;
    const isChange = `${contentOf(kind, kind)} is distinct from ${contentOf(kind, 'excluded')}`;
    return (await query(upsertFrom(kind, `staged ${order}`, isChange))).rowCount ?? 0;
  }
  await query('analyze staged');
  await query(`create temporary table judged on commit drop as ${judgedLines(kind)}`);
  await query(`create temporary table latest on commit drop as ${latestLines(kind)}`);
  await query(upsertFrom(kind, `latest order by ${identity}`, 'true'));
  const counted = await query('select count(*) as changes from judged where is_change');
  return Number(counted.rows[0].changes);
}

/** Selects each line, and whether it differs from the line before it with the same id, or from the table. */
function judgedLines(kind: ImportKind): string {
  const { identity } = importColumns[kind];
  const given = contentOf(kind, 'staged');
  return `
    select staged.*, first_value(staged.created_at) over lines as first_created_at,
      case
        when lag(line) over lines is not null then ${given} is distinct from lag(${given}) over lines
        else stored.id is null or ${given} is distinct from ${contentOf(kind, 'stored')}
      end as is_change
    from staged left join ${kind} as stored using (${identity.join(', ')})
    window lines as (partition by ${identity.map((column) => `staged.${column}`).join(', ')} order by line)`;
}

/** Selects for each changed id the row that results from writing its lines in turn. */
function latestLines(kind: ImportKind): string {
  const { identity, content } = importColumns[kind];
  const key = identity.join(', ');
  const last = (column: string) => `(array_agg(${column} order by line desc))[1] as ${column}`;
  return `
    select ${key}, ${content.map(last).join(', ')}, min(first_created_at) as created_at,
      (array_agg(updated_at order by line desc) filter (where is_change))[1] as updated_at
    from judged group by ${key} having bool_or(is_change)`;
}

/** The source is in the order of ids, so that two imports cannot deadlock. */
function upsertFrom(kind: ImportKind, source: string, condition: string): string {
  const columns = importColumns[kind].all.map((name) => (name === 'metadata' ? 'metadata::json' : name));
  return upsert(kind, `select ${columns.join(', ')} from ${source}`, condition);
}

/** What makes a row count as changed. JSON is compared as text, with sorted keys: json has no equality. */
function contentOf(kind: ImportKind, table: string): string {
  const asText = (column: string) => (column === 'metadata' ? 'metadata::text' : column);
  return `row(${importColumns[kind].content.map((column) => `${table}.${asText(column)}`).join(', ')})`;
}
