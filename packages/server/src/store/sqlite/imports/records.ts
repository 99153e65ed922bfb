import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';
import { toTime } from '../../../lib/times.ts';
import type { Missing } from '../../port.ts';
import {
  countMissing,
  deletionDays,
  deletionsOf,
  hasGone,
  importColumns,
  isGone,
  notStaged,
  type RecordKind,
  upsert,
} from '../../sql/imports.ts';
import type { KindWrites, Segment, SegmentForm, Tally } from './kind-writes.ts';

/** Rows of one insert. A statement with many rows takes half the time per row. */
const rowsOfStatement = 50;

/**
 * Writes brands or balances. Staged rows are written by one statement if all of them give `updated_at`, or
 * none does, and none deletes: an upsert does not see other columns of its source. Otherwise they are written
 * one by one. Both ways write the lines of one id in their order.
 */
export function createRecordWrites(
  db: DatabaseSync,
  kind: RecordKind,
  startedAt: string,
  tally: Tally,
): KindWrites {
  const { identity, all } = importColumns[kind];
  const key = identity.join(', ');
  const columns = [...all, 'is_timed', 'deleted_at'];
  const deletions = deletionsOf(kind);
  /** When a deletion is recorded. Not when the import began: a feed may run for months. */
  const now = () => toTime(Date.now());
  /** The forms of the staged rows. */
  const forms = new Set<SegmentForm>();
  let isSorted = true;

  // Called by the upserts for each row that is older than the stored one.
  db.function('count_stale', () => {
    tally.stale += 1;
    return 0;
  });
  const inserts: Record<string, ReturnType<typeof createInsert>> = {};

  function placeRows(form: SegmentForm, values: readonly SQLInputValue[]): number {
    inserts[`place ${form}`] ??= createInsert(db, all.length, (rows) => upsertOf(form, `values ${rows}`));
    return inserts[`place ${form}`]!(values);
  }

  /** Leaves a record unchanged if its content is the same, unless the row gives a newer time. */
  function upsertOf(form: SegmentForm, rows: string): string {
    const content = (table: string) =>
      importColumns[kind].content.map((column) => `${table}.${column}`).join(', ');
    const isNewer = form === 'timed' ? `or excluded.updated_at > ${kind}.updated_at` : '';
    return upsert(
      kind,
      rows,
      `case when excluded.updated_at < ${kind}.updated_at then count_stale()
      else (${content(kind)}) is not (${content('excluded')}) ${isNewer} end`,
    );
  }

  function stageRows({ form, values }: Segment): void {
    const given = form === 'deletion' ? [...identity, 'deleted_at'] : all;
    const timed = form === 'timed' ? '1' : '0';
    const into = `insert into staged (${given.join(', ')}, is_timed) values`;
    inserts[`stage ${form}`] ??= createInsert(db, given.length, (rows) => `${into} ${rows}`, `, ${timed}`);
    inserts[`stage ${form}`]!(values);
  }

  /** Writes all staged rows in the order of the table: a million rows take a third of the time. */
  function moveAtOnce(form: SegmentForm): void {
    if (hasAnyGone()) {
      const dropped = db.prepare(`delete from staged where ${isGone(kind, 'staged')}`).run();
      tally.stale += Number(dropped.changes);
    }
    const order = isSorted ? 'rowid' : `${key}, rowid`;
    // SQLite's grammar needs "where true".
    const rows = `select ${all.join(', ')} from staged where true order by ${order}`;
    tally.written += Number(db.prepare(upsertOf(form, rows)).run().changes);
  }

  function moveOneByOne(): void {
    const isGoneNow =
      db.prepare(`select 1 from (select ? as ${identity[0]}, ? as ${identity[1]}, ? as updated_at) r
      where ${isGone(kind, 'r')}`);
    const isStored = db.prepare(`select 1 from ${kind} where (${key}) = (?, ?)`);
    const remove = db.prepare(`delete from ${kind} where (${key}) = (?, ?) and updated_at <= ?`);
    const remember = db.prepare(rememberRows('values (?, ?, ?, ?)'));
    const rows = db.prepare(`select * from staged order by ${key}, rowid`).iterate();
    for (const row of rows as Iterable<Record<string, SQLOutputValue>>) {
      const id = identity.map((column) => row[column] as string) as [string, string];
      if (row.deleted_at === null) {
        const values = all.map((column) => row[column] as SQLInputValue);
        if (isGoneNow.get(...id, row.updated_at!) !== undefined) tally.stale += 1;
        else tally.written += placeRows(row.is_timed === 1 ? 'timed' : 'untimed', values);
      } else {
        const deleted = Number(remove.run(...id, row.deleted_at!).changes);
        tally.deleted += deleted;
        if (deleted === 0 && isStored.get(...id) !== undefined) tally.stale += 1;
        remember.run(...id, row.deleted_at!, now());
      }
    }
  }

  /** Remembers deletions, each with the latest time that was given. */
  function rememberRows(rows: string): string {
    return `
      insert into ${deletions} (${key}, deleted_at, recorded_at) ${rows}
      on conflict (${key}) do update set
        deleted_at = max(deleted_at, excluded.deleted_at), recorded_at = excluded.recorded_at`;
  }

  function forgetOld(): void {
    const before = toTime(Date.now() - deletionDays * 86_400_000);
    db.prepare(`delete from ${deletions} where recorded_at < ?`).run(before);
  }

  function hasAnyGone(): boolean {
    return db.prepare(hasGone(kind)).get()?.has_gone === 1;
  }

  return {
    columns,
    clear: () => {
      db.exec('delete from staged');
      forms.clear();
    },
    stage: (segment) => {
      forms.add(segment.form);
      isSorted = segment.isSorted;
      stageRows(segment);
    },
    place: (segment) => {
      if (segment.form === 'deletion' || hasAnyGone()) return false;
      tally.written += placeRows(segment.form, segment.values);
      return true;
    },
    countMissing: () => {
      db.exec(`create index if not exists temp.staged_ids on staged (${key})`);
      return { ...(db.prepare(countMissing(kind)).get() as Missing) };
    },
    deleteMissing: () => {
      db.exec(`create index if not exists temp.staged_ids on staged (${key})`);
      const missing = `${notStaged(kind)} and updated_at <= ?`;
      const selected = `select ${key}, ?, ? from ${kind} where ${missing}`;
      db.prepare(rememberRows(selected)).run(startedAt, now(), startedAt);
      tally.missing += Number(db.prepare(`delete from ${kind} where ${missing}`).run(startedAt).changes);
      forgetOld();
    },
    move: () => {
      const [form] = forms;
      if (forms.size === 1 && form !== 'deletion') moveAtOnce(form!);
      else {
        moveOneByOne();
        forgetOld();
      }
      return [];
    },
  };
}

/**
 * Returns a function that inserts rows, many at a time, and returns how many changed the table. Each row ends
 * with the constants.
 */
function createInsert(
  db: DatabaseSync,
  columns: number,
  statementOf: (rows: string) => string,
  constants = '',
) {
  const row = `(${Array(columns).fill('?').join(', ')}${constants})`;
  const one = db.prepare(statementOf(row));
  const many = db.prepare(statementOf(Array(rowsOfStatement).fill(row).join()));
  const valuesOfMany = columns * rowsOfStatement;
  return (values: readonly SQLInputValue[]): number => {
    let changes = 0;
    for (let start = 0; start < values.length; ) {
      const isMany = start + valuesOfMany <= values.length;
      const end = start + (isMany ? valuesOfMany : columns);
      changes += Number((isMany ? many : one).run(...values.slice(start, end)).changes);
      start = end;
    }
    return changes;
  };
}
