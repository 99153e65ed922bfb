import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { storeBounds } from '@partner-network/common/bounds/store';
import { toTime } from '@partner-network/common/times';
import type { Missing } from '../../port.ts';
import { rejectErased } from '../../sql/consent.ts';
import { importColumns, type RecordKind, hasGone as selectHasGone } from '../../sql/imports.ts';
import { countOutcomes, type Dialect, outcomesOf, RecordStatements } from '../../sql/record-statements.ts';
import { type UndoFile, undoLines } from '../../sql/undo.ts';
import type { KindWrites, Segment, SegmentForm, Tally } from './kind-writes.ts';

/** Rows of one insert. A statement with many rows takes half the time per row. */
const rowsOfStatement = 100;

/** SQLite looks up each row of a left join by the primary key. */
const dialect: Dialect = {
  greatest: 'max',
  countStale: 'count_stale()',
  daysAgo: (days) => `'${toTime(Date.now() - days * 86_400_000)}'`,
  stored: (column) => column,
  joined: (table, alias, on) => `left join ${table} ${alias} on ${on}`,
  readable: (table) => table,
};

/** Where records are written, and how. */
interface Target {
  readonly db: DatabaseSync;
  readonly kind: RecordKind;
  readonly overwrites: boolean;
  readonly undo: UndoFile | undefined;
}

/**
 * Writes brands or balances, in one of two ways:
 *
 *     upsert    each id has one line, and none deletes
 *     decide    any other lines: the table `decided` says what happens to each record
 */
export function createRecordWrites(target: Target, startedAt: string, tally: Tally): KindWrites {
  const { db, kind, overwrites } = target;
  const { key, all } = importColumns[kind];
  const sql = new RecordStatements(kind, dialect);
  const inserts = createInserts(db, kind, sql);
  /** The forms of the staged rows. */
  const forms = new Set<SegmentForm>();
  let isSorted = true;
  let mayRepeat = false;
  // Called by the upserts for each row that is older than the stored one.
  db.function('count_stale', () => {
    tally.stale += 1;
    return 0;
  });
  /** Runs a statement, and returns how many rows it changed. */
  const change = (statement: string) => Number(db.prepare(statement).run().changes);
  const hasAnyGone = () => db.prepare(selectHasGone(kind)).get()!.has_gone === 1;
  const indexStaged = () => db.exec(`create index if not exists temp.staged_ids on staged (${key})`);

  return {
    tables: [
      // The last columns may be long, and are then stored apart: the first are read without them.
      `staged (line integer primary key, is_timed, deleted_at, ${all.join(', ')})`,
      `decided (${sql.decidedColumns().join(', ')})`,
    ],
    clear: () => {
      db.exec('delete from staged');
      forms.clear();
    },
    stage: (segment) => {
      forms.add(segment.form);
      ({ isSorted, mayRepeat } = segment);
      inserts.stage(segment);
    },
    place: ({ form, values }) => {
      if (form === 'deletion' || hasAnyGone()) return false;
      tally.written += inserts.place(form, values);
      return true;
    },
    countMissing: () => {
      indexStaged();
      return { ...(db.prepare(sql.countMissing()).get() as Missing) };
    },
    deleteMissing: () => {
      indexStaged();
      const missing = sql.isMissing(startedAt);
      const times = `'${startedAt}', '${toTime(Date.now())}'`;
      writeUndo(target, sql.selectStored(missing));
      db.exec(sql.remember(`select ${key}, ${times} from ${kind} where ${missing}`));
      db.exec(sql.forgetOld());
      tally.missing += change(`delete from ${kind} where ${missing}`);
    },
    move: () => {
      const hasGone = hasAnyGone();
      // Brands have no customers.
      const erased = hasGone && kind === 'balances' ? db.prepare(sql.dropUntimed()).all() : [];
      const hasRepeats = mayRepeat && db.prepare(sql.selectRepeated()).get() !== undefined;
      if (hasRepeats || forms.has('deletion') || overwrites) {
        const outcomes = decideAll(target, sql, hasRepeats, hasGone);
        for (const name of ['written', 'deleted', 'stale'] as const) tally[name] += outcomes[name];
      } else {
        if (hasGone) tally.stale += change(sql.dropGone());
        writeUndo(target, sql.selectUndo('staged', isSorted));
        for (const form of forms) tally.written += change(sql.upsertStaged(form === 'timed', isSorted));
      }
      return rejectErased(erased);
    },
  };
}

function decideAll(target: Target, sql: RecordStatements, hasRepeats: boolean, hasGone: boolean) {
  const { db, kind } = target;
  const { key } = importColumns[kind];
  // Not when the import began: a feed may run for months.
  const now = toTime(Date.now());
  db.exec('delete from decided');
  db.exec(sql.decide({ ...target, hasRepeats, hasGone }, now));
  writeUndo(target, sql.selectUndo('decided', false));
  db.exec(`delete from ${kind} where (${key}) in (select ${key} from decided where outcome = 'deleted')`);
  db.exec(sql.writeDecided());
  db.exec(sql.rememberDecided(now));
  db.exec(sql.forgetOld());
  const { lines } = db.prepare('select count(*) as lines from staged').get()!;
  return outcomesOf(db.prepare(countOutcomes).all(), Number(lines));
}

/** Writes what is selected into the undo file, if there is one. */
function writeUndo({ db, kind, undo }: Target, selection: string): void {
  if (undo === undefined) return;
  let rows: Record<string, unknown>[] = [];
  for (const row of db.prepare(selection).iterate()) {
    if (rows.push(row) < storeBounds.exportBatchBrands) continue;
    undo.write(undoLines(kind, rows));
    rows = [];
  }
  undo.write(undoLines(kind, rows));
}

/** Inserts the rows of segments into the table of the kind or into `staged`. Statements are prepared once. */
function createInserts(db: DatabaseSync, kind: RecordKind, sql: RecordStatements) {
  const { identity, all } = importColumns[kind];
  const prepared: Record<string, ReturnType<typeof createInsert>> = {};
  return {
    /** Returns how many rows changed the table. */
    place: (form: SegmentForm, values: readonly SQLInputValue[]): number => {
      const statementOf = (rows: string) => sql.upsertRows(`values ${rows}`, form === 'timed');
      prepared[`place ${form}`] ??= createInsert(db, all.length, statementOf);
      return prepared[`place ${form}`]!(values);
    },
    /** Gives the first row its number. SQLite gives the others the numbers after it. */
    stage: ({ form, values, line }: Segment): void => {
      const given = form === 'deletion' ? [...identity, 'deleted_at'] : all;
      const width = given.length;
      const timed = form === 'timed' ? ', 1' : ', 0';
      const into = (columns: readonly string[]) => (rows: string) =>
        `insert into staged (${columns.join(', ')}, is_timed) values ${rows}`;
      prepared[`first ${form}`] ??= createInsert(db, width + 1, into(['line', ...given]), timed);
      prepared[`stage ${form}`] ??= createInsert(db, width, into(given), timed);
      prepared[`first ${form}`]!([line, ...values.slice(0, width)]);
      prepared[`stage ${form}`]!(values.slice(width));
    },
  };
}

/**
 * Returns a function that inserts rows, many at a time, and returns how many changed the table. Each row ends
 * with the constants.
 */
function createInsert(db: DatabaseSync, columns: number, insert: (rows: string) => string, constants = '') {
  const row = `(${Array(columns).fill('?').join(', ')}${constants})`;
  const one = db.prepare(insert(row));
  const many = db.prepare(insert(Array(rowsOfStatement).fill(row).join()));
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
