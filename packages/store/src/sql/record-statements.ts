import { deletionsOf, importColumns, type RecordKind, sameId } from './imports.ts';
import type { Row } from './statement.ts';

/** How long a deletion is remembered after its import. */
const deletionDays = 90;

/** How an engine reads and compares. */
export interface Dialect {
  /** The greatest of several values. */
  readonly greatest: 'greatest' | 'max';
  /** Selects the staged line of each key that counts. */
  newest(key: string): string;
  /** The time that number of days ago. */
  daysAgo(days: number): string;
  /** A column of `staged` or `decided` in the type of the stored one. */
  stored(column: string): string;
  /** Joins each row `n` with its row of a table, or with nulls: by the primary key, row by row. */
  joined(table: string, alias: string, on: string): string;
  /** The table to read instead of this one. */
  readable(table: string): string;
}

interface Decision {
  readonly overwrites: boolean;
  /** Whether all rows are in the order of the table, and no id is repeated. */
  readonly isSorted: boolean;
  /** Whether any deletion or erasure is remembered. */
  readonly hasGone: boolean;
}

/** The statements that write brands or balances from the table `staged`. */
export class RecordStatements {
  readonly #kind: RecordKind;
  readonly #dialect: Dialect;
  readonly #columns: (typeof importColumns)[RecordKind];

  constructor(kind: RecordKind, dialect: Dialect) {
    this.#kind = kind;
    this.#dialect = dialect;
    this.#columns = importColumns[kind];
  }

  /** Whether a line that is not stale changes a record: its content differs, or it gives a newer time. */
  #isChange(line: string, stored: string, isTimed: string): string {
    // JSON is compared as text, with sorted keys: Postgres has no equality for it.
    const asText = (table: string, column: string) =>
      column === 'metadata' ? `cast(${table}.metadata as text)` : `${table}.${column}`;
    const content = (table: string) =>
      this.#columns.content.map((column) => asText(table, column)).join(', ');
    return `((${content(line)}) is distinct from (${content(stored)})
    or (${isTimed} and ${line}.updated_at > ${stored}.updated_at))`;
  }

  /** Selects the time of the erasure of a row's customer, if any. */
  #erasedAt(row: string): string {
    const table = this.#dialect.readable('erased_customers');
    return `(select e.erased_at from ${table} e where e.customer_id = ${row}.customer_id)`;
  }

  /** Selects the time of the remembered deletion of a row's record, if any. */
  #deletedAt(row: string): string {
    const table = this.#dialect.readable(deletionsOf(this.#kind));
    return `(select d.deleted_at from ${table} d where ${sameId(this.#kind, 'd', row)})`;
  }

  /**
   * Whether an update must not bring its record back: it is not newer than a deletion of the record or the
   * erasure of the customer. An import that overwrites is newer than any deletion. The subqueries run once
   * for each line, by a primary key.
   */
  #isGone(overwrites: boolean, row: string): string {
    const times = [
      ...(overwrites ? [] : [this.#deletedAt(row)]),
      ...(this.#kind === 'brands' ? [] : [this.#erasedAt(row)]),
    ];
    const isNotNewer = times.map((time) => `coalesce(${time} >= ${row}.updated_at, false)`);
    return `(${row}.deleted_at is null and (${isNotNewer.join(' or ') || 'false'}))`;
  }

  /** Deletes the staged lines of erased customers that do not say whether they are newer. Returns them. */
  dropUntimed(): string {
    return `delete from staged where deleted_at is null and not is_timed
    and ${this.#erasedAt('staged')} is not null returning line`;
  }

  /** The columns of the table `decided`. */
  decidedColumns(): readonly string[] {
    return [...this.#columns.all, 'deleted_at', 'outcome'];
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
  #outcome(overwrites: boolean): string {
    const isOlder = (time: string) => (overwrites ? 'false' : `n.${time} < stored.updated_at`);
    return `case
      when stored.updated_at is null then case when n.deleted_at is null then 'written' else 'unchanged' end
      when n.deleted_at is not null then case when ${isOlder('deleted_at')} then 'stale' else 'deleted' end
      when ${isOlder('updated_at')} then 'stale'
      when ${this.#isChange('n', 'stored', 'n.is_timed')} then 'written'
      else 'unchanged'
    end`;
  }

  /** Joins each line `n` with its record `stored`. */
  #joinStored(): string {
    const { joined, readable } = this.#dialect;
    return joined(readable(this.#kind), 'stored', sameId(this.#kind, 'stored', 'n'));
  }

  /**
   * Decides what the staged lines do, and keeps that in the table `decided`, which has one row for each
   * record. Of the lines of a record the newest counts: the one with the latest time; if times are equal, a
   * deletion rather than an update; then the line further down. All others are stale, and so is an update
   * that must not bring its record back. An older line that overwrites counts as a change of this moment,
   * `now`.
   */
  decide({ overwrites, isSorted, hasGone }: Decision, now: string): string {
    const { identity, content } = this.#columns;
    const own = [...identity, ...content, 'created_at'].map((column) => `n.${column}`).join(', ');
    const isKnown = `(n.updated_at < stored.updated_at or n.updated_at <= ${this.#deletedAt('n')})`;
    const latest = `${this.#dialect.greatest}('${now}', coalesce(stored.created_at, n.created_at))`;
    const times = overwrites
      ? `case when ${isKnown} then ${latest} else n.updated_at end, ` +
        `case when n.deleted_at < stored.updated_at then '${now}' else n.deleted_at end`
      : 'n.updated_at, n.deleted_at';
    const kept = this.#outcome(overwrites);
    const isGone = this.#isGone(overwrites, 'n');
    const outcome = hasGone ? `case when ${isGone} then 'stale' else ${kept} end` : kept;
    const lines = isSorted ? 'staged' : `(${this.#dialect.newest(this.#columns.key)})`;
    return `
    insert into decided
    select ${own}, ${times}, ${outcome}
    from ${lines} n
    ${this.#joinStored()}`;
  }

  /**
   * Writes the decided records that are written: inserts new ones, and replaces stored ones except their
   * creation time. The primary key finds the stored record, so no plan depends on the table's statistics. An
   * import beside this one may have written a newer or the same record since: that one stays, unless this
   * import overwrites. In the order of ids, two imports cannot deadlock, and SQLite takes a third of the
   * time for a million.
   */
  writeDecided(overwrites: boolean): string {
    const { content, all, key } = this.#columns;
    const updates = [...content, 'updated_at'].map((column) => `${column} = excluded.${column}`);
    const isNewer = `excluded.updated_at >= ${this.#kind}.updated_at
      and ${this.#isChange('excluded', this.#kind, 'true')}`;
    return `
    insert into ${this.#kind} (${all.join(', ')})
    select ${all.map(this.#dialect.stored).join(', ')} from decided where outcome = 'written'
    order by ${key}
    on conflict (${key}) do update set ${updates.join(', ')}
    where ${overwrites ? 'true' : isNewer}`;
  }

  /** Remembers deletions, each with the latest time that was given. `rows` selects key, time and `now`. */
  remember(rows: string): string {
    const { key } = this.#columns;
    const table = deletionsOf(this.#kind);
    const latest = `${this.#dialect.greatest}(${table}.deleted_at, excluded.deleted_at)`;
    return `
    insert into ${table} (${key}, deleted_at, recorded_at) ${rows}
    on conflict (${key}) do update set
      deleted_at = ${latest}, recorded_at = excluded.recorded_at`;
  }

  /** Remembers the decided deletions. */
  rememberDecided(now: string): string {
    const { key } = this.#columns;
    return this.remember(`select ${key}, deleted_at, '${now}' from decided where deleted_at is not null`);
  }

  /** Deletes the remembered deletions that are old. */
  forgetOld(): string {
    return `
    delete from ${deletionsOf(this.#kind)} where recorded_at < ${this.#dialect.daysAgo(deletionDays)}`;
  }

  /** A condition: the record was not staged. Of brands, only those of staged partners count. */
  #notStaged(): string {
    const kind = this.#kind;
    const { key } = this.#columns;
    const ofPartners = kind === 'brands' ? 'partner_id in (select partner_id from staged) and' : '';
    // A subquery, because Citus sends its rows to the nodes. It cannot join a local table with their rows.
    const staged = `(select ${key} from staged)`;
    return `${ofPartners} not exists (select 1 from ${staged} s where ${sameId(kind, 's', kind)})`;
  }

  /** A condition: the record was not staged, and is not newer than a time. */
  isMissing(at: string): string {
    return `${this.#notStaged()} and updated_at <= '${at}'`;
  }

  /**
   * Counts the records of `notStaged`, and all stored records that it chooses from. `share` is the greatest
   * missing share of a partner, or the share of all balances.
   */
  countMissing(): string {
    const kind = this.#kind;
    const [owner, stored] =
      kind === 'brands'
        ? ['partner_id', 'brands where partner_id in (select partner_id from staged)']
        : [`''`, kind];
    const counted = (rows: string) =>
      `select ${owner} as owner, count(*) as count from ${rows} group by owner`;
    return `
    select coalesce(sum(m.count), 0) as missing, coalesce(sum(s.count), 0) as stored,
      coalesce(max(m.count * 1.0 / s.count), 0) as share
    from (${counted(stored)}) s
    left join (${counted(`${kind} where ${this.#notStaged()}`)}) m on m.owner = s.owner`;
  }

  /**
   * Selects for the undo file the records that the decided lines change, in the order of the table: owner,
   * id, old record.
   */
  selectUndo(): string {
    const [owner, id] = this.#columns.identity;
    return `
    select n.${owner} as owner, n.${id} as id, stored.record from decided n
    ${this.#joinStored()}
    where n.outcome in ('written', 'deleted') order by 1, 2`;
  }

  /** Selects for the undo file the stored records for which a condition holds. */
  selectStored(condition: string): string {
    const [owner, id] = this.#columns.identity;
    const from = `from ${this.#kind} where ${condition}`;
    return `select ${owner} as owner, ${id} as id, record ${from} order by 1, 2`;
  }
}

/** Counts the records of each outcome. */
export const countOutcomes = 'select outcome, count(*) as count from decided group by outcome';

/** What happened to lines, by the rows of `countOutcomes`: of repeated ids, all lines but one are stale. */
export function outcomesOf(rows: readonly Row[], lines: number) {
  const of = (name: string) => Number(rows.find(({ outcome }) => outcome === name)?.count ?? 0);
  const records = rows.reduce((sum, { count }) => sum + Number(count), 0);
  return { written: of('written'), deleted: of('deleted'), stale: of('stale') + lines - records };
}
