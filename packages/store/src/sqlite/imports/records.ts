import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { storeBounds } from '@partner-network/common/bounds/store';
import { toTime } from '@partner-network/common/times';
import type { ImportResult, Missing } from '../../port.ts';
import { customerErased } from '../../sql/consent.ts';
import {
  countMissing,
  countOutcomes,
  type Dialect,
  decide,
  decidedColumns,
  deletionDays,
  deletionsOf,
  dropGone,
  dropUntimed,
  importColumns,
  isChange,
  notStaged,
  type RecordKind,
  remember,
  rememberDecided,
  hasGone as selectHasGone,
  upsert,
  writeDecided,
} from '../../sql/imports.ts';
import { selectStored, selectUndo, undoLines } from '../../sql/undo.ts';
import type { KindWrites, Segment, SegmentForm, Tally, WriteOptions } from './kind-writes.ts';

/** Rows of one insert. A statement with many rows takes half the time per row. */
const rowsOfStatement = 100;

/** SQLite looks up each row of a left join by the primary key. */
const dialect: Dialect = {
  greatest: 'max',
  joined: (table, alias, on) => `left join ${table} ${alias} on ${on}`,
  readable: (table) => table,
};

/**
 * Writes brands or balances, in one of two ways:
 *
 *     upsert    each id has one line, none deletes, and all give `updated_at`, or none does: an upsert does
 *               not see other columns of its source
 *     decide    any other lines: the table `decided` says what happens to each record
 */
export function createRecordWrites(
  db: DatabaseSync,
  kind: RecordKind,
  startedAt: string,
  tally: Tally,
  { overwrites, undo }: WriteOptions,
): KindWrites {
  const { identity, all } = importColumns[kind];
  const key = identity.join(', ');
  const deletions = deletionsOf(kind);
  /** When a deletion is recorded. Not when the import began: a feed may run for months. */
  const now = () => toTime(Date.now());
  /** The forms of the staged rows. */
  const forms = new Set<SegmentForm>();
  let isSorted = true;
  let mayRepeat = false;

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

  function upsertOf(form: SegmentForm, rows: string): string {
    return upsert(
      kind,
      rows,
      `case when excluded.updated_at < ${kind}.updated_at then count_stale()
      else ${isChange(kind, 'excluded', kind, String(form === 'timed'))} end`,
    );
  }

  /** Gives the first row its number. SQLite gives the others the numbers after it. */
  function stageRows({ form, values, line }: Segment): void {
    const given = form === 'deletion' ? [...identity, 'deleted_at'] : all;
    const timed = form === 'timed' ? '1' : '0';
    const into = (more = '') => `insert into staged (${more}${given.join(', ')}, is_timed) values`;
    const width = given.length;
    inserts[`first ${form}`] ??= createInsert(
      db,
      width + 1,
      (rows) => `${into('line, ')} ${rows}`,
      `, ${timed}`,
    );
    inserts[`stage ${form}`] ??= createInsert(db, width, (rows) => `${into()} ${rows}`, `, ${timed}`);
    inserts[`first ${form}`]!([line, ...values.slice(0, width)]);
    inserts[`stage ${form}`]!(values.slice(width));
  }

  /** Upserts all staged rows in the order of the table: a million rows take a third of the time. */
  function upsertAll(form: SegmentForm): void {
    if (undo !== undefined) writeUndo(selectUndo(kind, 'staged', isSorted, dialect));
    // SQLite's grammar needs "where true".
    const rows = `select ${all.join(', ')} from staged where true order by ${isSorted ? 'line' : key}`;
    tally.written += Number(db.prepare(upsertOf(form, rows)).run().changes);
  }

  function decideAll(hasRepeats: boolean, hasGone: boolean): void {
    const at = now();
    db.exec('delete from decided');
    db.exec(decide(kind, { overwrites, hasRepeats, hasGone, now: at }, dialect));
    const counts = Object.fromEntries(
      db
        .prepare(countOutcomes)
        .all()
        .map(({ outcome, count }) => [outcome, Number(count)]),
    );
    if (undo !== undefined) writeUndo(selectUndo(kind, 'decided', false, dialect));
    db.exec(`delete from ${kind} where (${key}) in (select ${key} from decided where outcome = 'deleted')`);
    db.exec(writeDecided(kind, (column) => column));
    db.exec(rememberDecided(kind, at, dialect));
    forgetOld();
    const { written = 0, deleted = 0, stale = 0, unchanged = 0 } = counts;
    const lines = Number(db.prepare('select count(*) as lines from staged').get()!.lines);
    tally.written += written;
    tally.deleted += deleted;
    tally.stale += stale + lines - (written + deleted + stale + unchanged);
  }

  function writeUndo(selection: string, ...values: SQLInputValue[]): void {
    let rows: Record<string, unknown>[] = [];
    for (const row of db.prepare(selection).iterate(...values)) {
      if (rows.push(row) < storeBounds.exportBatchBrands) continue;
      undo!.write(undoLines(kind, rows));
      rows = [];
    }
    undo!.write(undoLines(kind, rows));
  }

  function forgetOld(): void {
    const before = toTime(Date.now() - deletionDays * 86_400_000);
    db.prepare(`delete from ${deletions} where recorded_at < ?`).run(before);
  }

  function hasRepeats(): boolean {
    const repeated = `select 1 from staged group by ${key} having count(*) > 1 limit 1`;
    return mayRepeat && db.prepare(repeated).get() !== undefined;
  }

  function hasAnyGone(): boolean {
    return db.prepare(selectHasGone(kind)).get()?.has_gone === 1;
  }

  /** Drops the lines of erased customers that do not say whether they are newer. Returns them. */
  function rejectUntimed(): ImportResult['rejected'] {
    // Brands have no customers.
    const erased = kind === 'brands' ? [] : db.prepare(dropUntimed(dialect)).all();
    return erased.map(({ line }) => ({
      line: Number(line),
      ...customerErased,
    }));
  }

  return {
    tables: [
      `staged (line integer primary key, ${[...all, 'is_timed', 'deleted_at'].join(', ')})`,
      `decided (${decidedColumns(kind).join(', ')})`,
    ],
    clear: () => {
      db.exec('delete from staged');
      forms.clear();
    },
    stage: (segment) => {
      forms.add(segment.form);
      ({ isSorted, mayRepeat } = segment);
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
      if (undo !== undefined) writeUndo(selectStored(kind, missing), startedAt);
      db.prepare(remember(kind, selected, dialect)).run(startedAt, now(), startedAt);
      tally.missing += Number(db.prepare(`delete from ${kind} where ${missing}`).run(startedAt).changes);
      forgetOld();
    },
    move: () => {
      const hasGone = hasAnyGone();
      const rejected = hasGone ? rejectUntimed() : [];
      const [form] = forms;
      const isRepeated = hasRepeats();
      if (forms.size > 1 || form === 'deletion' || overwrites || isRepeated) decideAll(isRepeated, hasGone);
      else {
        if (hasGone) tally.stale += Number(db.prepare(dropGone(kind, dialect)).run().changes);
        upsertAll(form!);
      }
      return rejected;
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
