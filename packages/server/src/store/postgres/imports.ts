import { finished } from 'node:stream/promises';
import type { QueryResult } from 'pg';
import { ingestBounds } from '../../bounds/ingest.ts';
import {
  AlreadyExists,
  type ImportKind,
  type ImportPace,
  type ImportRow,
  type ImportRun,
  type Imports,
} from '../port.ts';
import { importColumns } from '../sql/import-columns.ts';
import { createOrderCheck } from '../sql/import-order.ts';
import type { Connection } from './connections/connection.ts';
import { translated } from './connections/errors.ts';

/** The columns that are not text; metadata is staged as the text that it is given as. */
const types: Readonly<Record<string, string>> = {
  amount: 'bigint',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  expires_at: 'timestamptz',
};

/** Room to sort a million lines in; with the usual 4 MB it would be done on the disk. */
const writeSettings = `set local work_mem = '64MB'`;

export function createImports(connect: () => Promise<Connection>): Imports {
  return {
    beginImport: async (kind, pace = 'slow') => {
      const client = await connect();
      const query = async (text: string): Promise<QueryResult> => {
        try {
          return await client.query(text);
        } catch (error) {
          throw translated(error);
        }
      };
      const columns = importColumns[kind].all.map(
        (column) => `${column} ${types[column] ?? 'text collate "C"'}`,
      );
      try {
        await query(`create temporary table staged (line bigint, ${columns.join(', ')})`);
      } catch (error) {
        await client.leave();
        throw error;
      }
      const copy = (statements: string, text: string) => copyIn(client, statements, text);
      // The table goes with the connection, and so does a transaction that did not come to its end.
      return { ...createRun(kind, pace, { query, copy }), end: () => client.leave() };
    },
  };
}

interface Session {
  query(text: string): Promise<QueryResult>;
  /** Statements, one of which is a copy from stdin. */
  copy(statements: string, text: string): Promise<void>;
}

/**
 * Rows wait in a temporary table, which belongs to a connection of its own, and are written in one
 * transaction at the end: an import that is fed slowly holds no lock. One that is not writes its rows at
 * once for as long as all of them are new, which takes half the time, since each is written once; from the
 * first that is not, the rest waits.
 */
function createRun(kind: ImportKind, pace: ImportPace, { query, copy }: Session): Omit<ImportRun, 'end'> {
  const { all } = importColumns[kind];
  const checkOrder = createOrderCheck(kind);
  let isDirect = pace === 'fast';
  let isBegun = false;
  let isSorted = true;
  let placed = 0;
  let staged = 0;
  /** What is not sent yet, and what is on its way. */
  let lines: string[] = [];
  let characters = 0;
  let taking = Promise.resolve();

  async function begin(): Promise<void> {
    if (!isBegun) await query(`begin; ${writeSettings}`);
    isBegun = true;
  }

  /** Says whether it could: not when one of them is there already. */
  async function place(given: readonly string[]): Promise<boolean> {
    await begin();
    try {
      // Together: while each was asked and answered, the server had nothing to do, an eighth of the time.
      await copy(
        `savepoint batch; copy ${kind} (${all.join(', ')}) from stdin; release batch`,
        given.join(''),
      );
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
      await query('rollback to batch');
      return false;
    }
    placed += given.length;
    return true;
  }

  async function take(given: readonly string[]): Promise<void> {
    isDirect &&= await place(given);
    if (isDirect) return;
    await copy('copy staged from stdin', given.map((line, index) => `${staged + index}\t${line}`).join(''));
    staged += given.length;
  }

  async function send(): Promise<void> {
    await taking;
    if (lines.length > 0) taking = take(lines);
    taking.catch(() => {});
    lines = [];
    characters = 0;
  }

  return {
    // While the server takes some rows, the next ones are read; a failure is told with those.
    stage: async (rows) => {
      isSorted = checkOrder(rows);
      for (const row of rows) {
        const line = copyLine(row, all);
        lines.push(line);
        characters += line.length;
      }
      if (characters >= ingestBounds.importCopyCharacters) await send();
    },
    write: async (mode) => {
      await send();
      await taking;
      await begin();
      const written = placed + (staged === 0 ? 0 : await writeStaged(kind, isSorted, query));
      // Nobody vacuums a temporary table: rows that are only deleted would pile up in it.
      if (mode === 'keep') await query('truncate staged');
      await query(mode === 'keep' ? 'commit' : 'rollback');
      const counts = { written, unchanged: placed + staged - written };
      // What waited outside of the transaction is still there after a trial.
      if (mode === 'keep' || pace === 'fast') staged = 0;
      placed = 0;
      isDirect = pace === 'fast';
      isBegun = false;
      return counts;
    },
  };
}

async function copyIn(client: Connection, statements: string, text: string): Promise<void> {
  const { from } = await import('pg-copy-streams');
  try {
    await finished(client.query(from(statements)).end(text));
  } catch (error) {
    throw translated(error);
  }
}

const special = /[\\\t\n\r]/;
const everySpecial = new RegExp(special, 'g');
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** A line of COPY's text format. */
function copyLine(row: ImportRow, columns: readonly string[]): string {
  return `${columns.map((column) => copyField(row[column])).join('\t')}\n`;
}

function copyField(value: string | number | undefined): string | number {
  if (typeof value === 'string' && special.test(value))
    return value.replace(everySpecial, (found) => escapes[found]!);
  return value ?? '\\N';
}

/** A statement cannot touch a row twice: where ids are repeated, only the last line of each is written. */
async function writeStaged(
  kind: ImportKind,
  isSorted: boolean,
  query: (text: string) => Promise<QueryResult>,
): Promise<number> {
  const identity = importColumns[kind].identity.join(', ');
  const repeated = `select 1 from staged group by ${identity} having count(*) > 1 limit 1`;
  if (isSorted || (await query(repeated)).rowCount === 0) {
    const order = isSorted ? '' : `order by ${identity}`;
    return (await query(upsert(kind, `staged ${order}`, isDifferent(kind)))).rowCount ?? 0;
  }
  await query('analyze staged');
  await query(`create temporary table judged on commit drop as ${judgedLines(kind)}`);
  await query(`create temporary table latest on commit drop as ${latestLines(kind)}`);
  await query(upsert(kind, `latest order by ${identity}`, 'true'));
  const counted = await query('select count(*) as changes from judged where is_change');
  return Number(counted.rows[0].changes);
}

/** Each line, and whether it changes what the line before it with the same id, or the table, says. */
function judgedLines(kind: ImportKind): string {
  const { identity, content } = importColumns[kind];
  const given = `row(${content.map((column) => `staged.${column}`).join(', ')})`;
  const stored = `row(${content.map((column) => `stored.${asText(column)}`).join(', ')})`;
  return `
    select staged.*, first_value(staged.created_at) over lines as first_created_at,
      case
        when lag(line) over lines is not null then ${given} is distinct from lag(${given}) over lines
        else stored.id is null or ${given} is distinct from ${stored}
      end as is_change
    from staged left join ${kind} as stored using (${identity.join(', ')})
    window lines as (partition by ${identity.map((column) => `staged.${column}`).join(', ')} order by line)`;
}

/** What all lines with one id come to, where they change anything: as if they had been written in turn. */
function latestLines(kind: ImportKind): string {
  const { identity, content } = importColumns[kind];
  const key = identity.join(', ');
  const last = (column: string) => `(array_agg(${column} order by line desc))[1] as ${column}`;
  return `
    select ${key}, ${content.map(last).join(', ')}, min(first_created_at) as created_at,
      (array_agg(updated_at order by line desc) filter (where is_change))[1] as updated_at
    from judged group by ${key} having bool_or(is_change)`;
}

/**
 * Replaces a record whole but for its creation time, and touches nothing when its content is the same. The
 * rows come in the order of ids, so that two imports take their locks in the same order.
 */
function upsert(kind: ImportKind, source: string, condition: string): string {
  const { identity, content, all } = importColumns[kind];
  const updates = [...content, 'updated_at'].map((column) => `${column} = excluded.${column}`);
  const given = all.map((column) => (column === 'metadata' ? 'metadata::json' : column)).join(', ');
  return `
    insert into ${kind} (${all.join(', ')})
    select ${given} from ${source}
    on conflict (${identity.join(', ')}) do update set ${updates.join(', ')}
    where ${condition}`;
}

function isDifferent(kind: ImportKind): string {
  const of = (table: string) => importColumns[kind].content.map((column) => `${table}.${asText(column)}`);
  return `(${of(kind).join(', ')}) is distinct from (${of('excluded').join(', ')})`;
}

/** JSON has no equality; its text, with sorted keys, has. */
function asText(column: string): string {
  return column === 'metadata' ? 'metadata::text' : column;
}
