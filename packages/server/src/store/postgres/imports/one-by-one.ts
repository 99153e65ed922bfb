import { ingestBounds } from '../../../bounds/ingest.ts';
import { storeBounds } from '../../../bounds/store.ts';
import { deletionsOf, importColumns, type RecordKind, sameId } from '../../sql/imports.ts';
import { all, fetched, type Local, limitedTo, type Query, types } from './kind-writes.ts';

/** Values of columns. Times are text. */
type Fields = Readonly<Record<string, string | boolean | null>>;

/** A record as the lines so far have left it. */
interface Current {
  readonly key: string;
  readonly id: Fields;
  /** Undefined if the record does not exist. */
  record: Fields | undefined;
  /** The latest deletion among its lines, or ''. */
  deletedAt: string;
  /** The latest deletion or erasure before, or ''. */
  readonly goneAt: string;
}

type Outcome = 'written' | 'unchanged' | 'stale' | 'deleted';

/**
 * Writes the lines of a temporary table in their order. Each is compared with the record as the lines before
 * it have left it. The caller holds the lock alone, so nothing changes a record after it was read.
 */
export async function writeOneByOne(
  kind: RecordKind,
  ordered: Local,
  query: Query,
): Promise<Record<Outcome, number>> {
  const { identity, all: columns } = importColumns[kind];
  const { compared, replaceAll, deleteAll, rememberAll } = statements(kind, ordered);
  const size = kind === 'brands' ? storeBounds.exportBatchBrands : ingestBounds.importBatchRecords;
  const outcomes = { written: 0, unchanged: 0, stale: 0, deleted: 0 };
  let current: Current = { key: '', id: {}, record: undefined, deletedAt: '', goneAt: '' };

  async function send(statement: string, rows: readonly Fields[]): Promise<void> {
    if (rows.length > 0) await query(statement, [JSON.stringify(rows)]);
  }

  for await (const rows of fetched(query, compared, ordered, size)) {
    const changed = new Set<Current>();
    const deleting = new Set<Current>();
    for (const line of rows as Iterable<Fields>) {
      // Ids have no control characters.
      const key = identity.map((column) => line[column]).join('\n');
      if (current.key !== key) {
        const record = line.is_stored ? pick(line, columns, 'stored_') : undefined;
        const goneAt = String(line.gone_at ?? '');
        current = { key, id: pick(line, identity), record, deletedAt: '', goneAt };
      }
      const outcome = line.deleted_at === null ? replace(kind, current, line) : remove(current, line);
      outcomes[outcome] += 1;
      if (outcome === 'written' || outcome === 'deleted') changed.add(current);
      if (line.deleted_at !== null) deleting.add(current);
    }
    const records = [...changed];
    const absent = records.filter(({ record }) => record === undefined).map(({ id }) => id);
    const present = records.map(({ record }) => record).filter((record) => record !== undefined);
    const deletions = [...deleting].map(({ id, deletedAt }) => ({ ...id, deleted_at: deletedAt }));
    await send(deleteAll(absent.length), absent);
    await send(replaceAll, present);
    await send(rememberAll, deletions);
  }
  return outcomes;
}

/** A newer line changes a record if its content differs, or if it gives its own time. */
function replace(kind: RecordKind, current: Current, line: Fields): Outcome {
  const { content, all } = importColumns[kind];
  const { record, deletedAt, goneAt } = current;
  if (deletedAt >= line.updated_at! || goneAt >= line.updated_at!) return 'stale';
  if (record !== undefined) {
    if (line.updated_at! < record.updated_at!) return 'stale';
    const isSame = content.every((column) => line[column] === record[column]);
    if (isSame && !(line.is_timed && line.updated_at! > record.updated_at!)) return 'unchanged';
  }
  current.record = { ...pick(line, all), created_at: (record ?? line).created_at! };
  return 'written';
}

function remove(current: Current, { deleted_at }: Fields): Outcome {
  const { record, deletedAt } = current;
  if (deleted_at! > deletedAt) current.deletedAt = String(deleted_at);
  if (record === undefined) return 'unchanged';
  if (record.updated_at! > deleted_at!) return 'stale';
  current.record = undefined;
  return 'deleted';
}

function pick(row: Fields, columns: readonly string[], prefix = ''): Fields {
  return Object.fromEntries(columns.map((column) => [column, row[prefix + column]!]));
}

/** All but the first have the parameter $1, a JSON list of rows. */
function statements(kind: RecordKind, ordered: Local) {
  const { identity, content, all: columns } = importColumns[kind];
  const key = identity.join(', ');
  const rest = [...content, 'created_at', 'updated_at'];
  // JSON is compared as text: it has no equality.
  const stored = rest.map((column) => (column === 'metadata' ? 'metadata::text as metadata' : column));
  const given = (names: readonly string[]) => {
    const typed = names.map((column) => `${column} ${types[column] ?? 'text collate "C"'}`);
    return `json_to_recordset($1) as given (${typed.join(', ')})`;
  };
  const values = columns.map((column) => (column === 'metadata' ? 'metadata::json' : column)).join(', ');
  const erased = limitedTo(ordered, 'erased_customers', 'customer_id', 'erased_at');
  return {
    compared: `
      select o.*, s.updated_at is not null as is_stored,
        ${columns.map((column) => `s.${column} as stored_${column}`).join(', ')},
        greatest(d.deleted_at${kind === 'brands' ? '' : ', e.erased_at'}) as gone_at
      from ${all('*', ordered)} o
      left join ${limitedTo(ordered, kind, key, stored.join(', '))} s using (${key})
      left join ${limitedTo(ordered, deletionsOf(kind), key, 'deleted_at')} d using (${key})
      ${kind === 'brands' ? '' : `left join ${erased} e using (customer_id)`}
      order by ${key}, seq desc`,
    replaceAll: `
      insert into ${kind} (${columns.join(', ')}) select ${values} from ${given(columns)}
      on conflict (${key}) do update set
        ${rest.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    deleteAll: (count: number) => `
      delete from ${kind} using (select * from ${given(identity)} limit ${count}) as given
      where ${sameId(kind, 'given', kind)} and ${ordered.owned(kind)}`,
    rememberAll: remember(
      kind,
      `select ${key}, deleted_at, now() from ${given([...identity, 'deleted_at'])}`,
    ),
  };
}

/** Remembers deletions, each with the latest time that was given. */
export function remember(kind: RecordKind, rows: string): string {
  const [table, key] = [deletionsOf(kind), importColumns[kind].identity.join(', ')];
  return `
    insert into ${table} (${key}, deleted_at, recorded_at) ${rows}
    on conflict (${key}) do update set
      deleted_at = greatest(${table}.deleted_at, excluded.deleted_at), recorded_at = excluded.recorded_at`;
}
