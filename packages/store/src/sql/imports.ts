import type { ImportKind, ImportRow } from '../port.ts';

/** The primary key, the columns that make a row count as changed, and all columns. */
function columns(identity: readonly string[], content: readonly string[]) {
  return { identity, content, all: [...identity, ...content, 'created_at', 'updated_at'] };
}

export const importColumns: Readonly<Record<ImportKind, ReturnType<typeof columns>>> = {
  brands: columns(['partner_id', 'id'], ['name', 'reference_id', 'color', 'profile_image_url', 'metadata']),
  balances: columns(['customer_id', 'id'], ['type', 'currency', 'amount']),
  grants: columns(['customer_id', 'id'], ['partner_id', 'action', 'status', 'expires_at']),
};

/** The columns of a staged grant besides the number of its line. All are text. */
export const grantLineColumns = [...importColumns.grants.all, 'is_timed'];

/** Brands and balances are replaced and deleted by SQL. Grants are judged one by one: see consent.ts. */
export type RecordKind = Exclude<ImportKind, 'grants'>;

/** The table of remembered deletions. */
export function deletionsOf(kind: RecordKind): string {
  return `deleted_${kind}`;
}

/** How long a deletion is remembered after its import. */
export const deletionDays = 90;

/**
 * Inserts rows, and replaces existing ones where the condition holds, except their creation time. The
 * primary key finds the stored row, so no plan depends on the table's statistics.
 */
export function upsert(kind: RecordKind, rows: string, condition: string): string {
  const { identity, content, all } = importColumns[kind];
  const updates = [...content, 'updated_at'].map((column) => `${column} = excluded.${column}`);
  return `
    insert into ${kind} (${all.join(', ')})
    ${rows}
    on conflict (${identity.join(', ')}) do update set ${updates.join(', ')}
    where ${condition}`;
}

/** Whether a line that is not stale changes a record: its content differs, or it gives a newer time. */
export function isChange(kind: RecordKind, line: string, stored: string, isTimed: string): string {
  // JSON is compared as text, with sorted keys: Postgres has no equality for it.
  const asText = (table: string, column: string) =>
    column === 'metadata' ? `cast(${table}.metadata as text)` : `${table}.${column}`;
  const content = (table: string) =>
    importColumns[kind].content.map((column) => asText(table, column)).join(', ');
  return `((${content(line)}) is distinct from (${content(stored)})
    or (${isTimed} and ${line}.updated_at > ${stored}.updated_at))`;
}

/** Whether rows of two tables have the same primary key. */
export function sameId(kind: ImportKind, left: string, right: string): string {
  return importColumns[kind].identity.map((column) => `${left}.${column} = ${right}.${column}`).join(' and ');
}

/** How an engine reads and compares. */
export interface Dialect {
  /** The greatest of several values. */
  readonly greatest: 'greatest' | 'max';
  /** Joins each row `n` with its row of a table, or with nulls: by the primary key, row by row. */
  joined(table: string, alias: string, on: string): string;
  /** The table to read instead of this one. */
  readable(table: string): string;
}

/** Selects the time of the erasure of a row's customer, if any. */
function erasedAt({ readable }: Dialect, row: string): string {
  const table = readable('erased_customers');
  return `(select e.erased_at from ${table} e where e.customer_id = ${row}.customer_id)`;
}

/** Selects the time of the remembered deletion of a row's record, if any. */
function deletedAt({ readable }: Dialect, kind: RecordKind, row: string): string {
  const table = deletionsOf(kind);
  return `(select d.deleted_at from ${readable(table)} d where ${sameId(kind, 'd', row)})`;
}

/**
 * Whether an update must not bring its record back: it is not newer than a deletion of the record or the
 * erasure of the customer. An import that overwrites is newer than any deletion. The subqueries run once for
 * each line, by a primary key.
 */
function isGone(kind: RecordKind, overwrites: boolean, dialect: Dialect, row: string): string {
  const times = [
    ...(overwrites ? [] : [deletedAt(dialect, kind, row)]),
    ...(kind === 'brands' ? [] : [erasedAt(dialect, row)]),
  ];
  const isNotNewer = times.map((time) => `coalesce(${time} >= ${row}.updated_at, false)`);
  return `(${row}.deleted_at is null and (${isNotNewer.join(' or ') || 'false'}))`;
}

/** Deletes the staged lines that must not bring a record back. Only for ids that are not repeated. */
export function dropGone(kind: RecordKind, dialect: Dialect): string {
  return `delete from staged where ${isGone(kind, false, dialect, 'staged')}`;
}

/** Deletes the staged lines of erased customers that do not say whether they are newer. Returns them. */
export function dropUntimed(dialect: Dialect): string {
  return `delete from staged where deleted_at is null and not is_timed
    and ${erasedAt(dialect, 'staged')} is not null returning line`;
}

/** The columns of the table `decided`. */
export function decidedColumns(kind: RecordKind): readonly string[] {
  return [...importColumns[kind].all, 'deleted_at', 'outcome'];
}

export interface Decision {
  readonly overwrites: boolean;
  /** Whether an id is repeated. */
  readonly hasRepeats: boolean;
  /** Whether any deletion or erasure is remembered. */
  readonly hasGone: boolean;
  /** The current time. */
  readonly now: string;
}

/**
 * What a line `n` does to the record `stored`:
 *
 *     no record  --update--> written                  --deletion--> unchanged, but remembered
 *     a record   --older line--> stale                --deletion--> deleted
 *                --other content or a newer given time--> written      otherwise unchanged
 *
 * An import that overwrites has no older lines.
 */
export function outcomeOf(kind: RecordKind, overwrites: boolean): string {
  const isOlder = (time: string) => (overwrites ? 'false' : `n.${time} < stored.updated_at`);
  return `case
      when stored.updated_at is null then case when n.deleted_at is null then 'written' else 'unchanged' end
      when n.deleted_at is not null then case when ${isOlder('deleted_at')} then 'stale' else 'deleted' end
      when ${isOlder('updated_at')} then 'stale'
      when ${isChange(kind, 'n', 'stored', 'n.is_timed')} then 'written'
      else 'unchanged'
    end`;
}

/**
 * Decides what the staged lines do, and keeps that in the table `decided`, which has one row for each record.
 * Of the lines of a record the newest counts: the one with the latest time; if times are equal, a deletion
 * rather than an update; then the line further down. All others are stale, and so is an update that must not
 * bring its record back. An older line that overwrites counts as a change of this moment, `now`.
 */
export function decide(kind: RecordKind, decision: Decision, dialect: Dialect): string {
  const { overwrites, hasRepeats, hasGone, now } = decision;
  const { identity, content } = importColumns[kind];
  const own = [...identity, ...content, 'created_at'].map((column) => `n.${column}`).join(', ');
  const isKnown = `(n.updated_at < stored.updated_at or n.updated_at <= ${deletedAt(dialect, kind, 'n')})`;
  const latest = `${dialect.greatest}('${now}', coalesce(stored.created_at, n.created_at))`;
  const updatedAt = overwrites ? `case when ${isKnown} then ${latest} else n.updated_at end` : 'n.updated_at';
  const goneAt = overwrites
    ? `case when n.deleted_at < stored.updated_at then '${now}' else n.deleted_at end`
    : 'n.deleted_at';
  const kept = outcomeOf(kind, overwrites);
  const outcome = hasGone
    ? `case when ${isGone(kind, overwrites, dialect, 'n')} then 'stale' else ${kept} end`
    : kept;
  const newest = `(
      select *, row_number() over (
        partition by ${identity.join(', ')}
        order by coalesce(deleted_at, updated_at) desc, deleted_at is null, line desc
      ) as place
      from staged
    )`;
  return `
    insert into decided
    select ${own}, ${updatedAt}, ${goneAt}, ${outcome}
    from ${hasRepeats ? newest : 'staged'} n
    ${dialect.joined(dialect.readable(kind), 'stored', sameId(kind, 'stored', 'n'))}
    where ${hasRepeats ? 'place = 1' : 'true'}`;
}

/** Counts the records of each outcome. */
export const countOutcomes = 'select outcome, count(*) as count from decided group by outcome';

/** Writes the decided records that are written. */
export function writeDecided(kind: RecordKind, values: (column: string) => string): string {
  const { identity, all } = importColumns[kind];
  const rows = `select ${all.map(values).join(', ')} from decided where outcome = 'written'
    order by ${identity.join(', ')}`;
  return upsert(kind, rows, 'true');
}

/** Remembers deletions, each with the latest time that was given. `rows` selects key, time and `now`. */
export function remember(kind: RecordKind, rows: string, { greatest }: Dialect): string {
  const [table, key] = [deletionsOf(kind), importColumns[kind].identity.join(', ')];
  return `
    insert into ${table} (${key}, deleted_at, recorded_at) ${rows}
    on conflict (${key}) do update set
      deleted_at = ${greatest}(${table}.deleted_at, excluded.deleted_at), recorded_at = excluded.recorded_at`;
}

/** Remembers the decided deletions. */
export function rememberDecided(kind: RecordKind, now: string, dialect: Dialect): string {
  const key = importColumns[kind].identity.join(', ');
  return remember(
    kind,
    `select ${key}, deleted_at, '${now}' from decided where deleted_at is not null`,
    dialect,
  );
}

/**
 * Selects whether any deletion or erasure is remembered that could concern a row of this kind. `owned` is a
 * condition for the rows of a table.
 */
export function hasGone(kind: RecordKind, owned: (table: string) => string = () => 'true'): string {
  const tables = kind === 'brands' ? [deletionsOf(kind)] : [deletionsOf(kind), 'erased_customers'];
  // A distributed database would read all rows without the limit.
  const found = tables.map((table) => `exists (select 1 from ${table} where ${owned(table)} limit 1)`);
  return `select ${found.join(' or ')} as has_gone`;
}

/** Selects stored records that were not staged, for brands those of the partners that were. */
export function notStaged(kind: RecordKind): string {
  const ofPartners = kind === 'brands' ? 'partner_id in (select partner_id from staged) and' : '';
  // A subquery, because Citus sends its rows to the nodes. It cannot join a local table with their rows.
  const staged = `(select ${importColumns[kind].identity.join(', ')} from staged)`;
  return `${ofPartners} not exists (select 1 from ${staged} s where ${sameId(kind, 's', kind)})`;
}

/**
 * Counts the records of `notStaged`, and all stored records that it chooses from. `share` is the greatest
 * missing share of a partner, or the share of all balances.
 */
export function countMissing(kind: RecordKind): string {
  const [owner, stored] =
    kind === 'brands'
      ? ['partner_id', 'brands where partner_id in (select partner_id from staged)']
      : [`''`, kind];
  const counted = (rows: string) => `select ${owner} as owner, count(*) as count from ${rows} group by owner`;
  return `
    select coalesce(sum(m.count), 0) as missing, coalesce(sum(s.count), 0) as stored,
      coalesce(max(m.count * 1.0 / s.count), 0) as share
    from (${counted(stored)}) s
    left join (${counted(`${kind} where ${notStaged(kind)}`)}) m on m.owner = s.owner`;
}

/** Surrogates sort before U+E000 in JavaScript but after it in a table, which compares bytes. */
const surrogate = /[\ud800-\udfff]/;

/**
 * Returns a function that checks whether these rows and all rows before them are in the table's order without
 * a repeated id, as in an export: then they need no sorting. It returns false if it cannot be sure.
 */
export function createOrderCheck(kind: ImportKind): (rows: readonly ImportRow[]) => boolean {
  const [first = '', second = ''] = importColumns[kind].identity;
  let isSorted = true;
  let last: readonly [string, string] = ['', ''];

  function isNext(row: ImportRow): boolean {
    const [before, beforeId] = last;
    last = [String(row[first]), String(row[second])];
    if (surrogate.test(last[0]) || surrogate.test(last[1])) return false;
    return last[0] > before || (last[0] === before && last[1] > beforeId);
  }

  return (rows) => {
    isSorted &&= rows.every(isNext);
    return isSorted;
  };
}
