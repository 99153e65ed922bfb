import { storeBounds } from '@partner-network/common/bounds/store';
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
  sameId,
  upsert,
  writeDecided,
} from '../../sql/imports.ts';
import { selectStored, selectUndo, type UndoFile, undoLines } from '../../sql/undo.ts';
import { fetched, type KindWrites, lookUp, type Query, type Staged, types } from './kind-writes.ts';
import { type Nodes, near } from './near.ts';

/**
 * Writes brands or balances from the table `staged`, in one of two ways:
 *
 *     upsert    each id has one line, and none deletes: `on conflict` finds the stored record
 *     decide    any other lines: the table `decided` says what happens to each record
 *
 * No statement depends on the statistics of a table, which may be old: stored records are looked up one by
 * one by their primary key, or whole tables are compared without nested loops.
 */
export function createRecordWrites(kind: RecordKind, query: Query, nodes: Nodes | undefined): KindWrites {
  const { identity, all: columns } = importColumns[kind];
  const key = identity.join(', ');
  const readable = (table: string) => (nodes === undefined ? table : near(table));
  const dialect: Dialect = { greatest: 'greatest', joined: lookUp, readable };
  const storedForm = (column: string) => (column === 'metadata' ? 'metadata::json' : column);
  const typed = decidedColumns(kind).map((name) => `${name} ${types[name] ?? 'text collate "C"'}`);
  /** The stale lines of earlier writes, by the sequence. */
  let counted = 0;

  /** Citus reports the number of rows that it sent to its nodes, changed or not, so rows are counted here. */
  const count = async (text: string) => Number([await query(text)].flat().at(-1)!.rows[0].count);

  /** Upserts the lines that give `updated_at`, or those that do not. */
  function upsertRows(isTimed: boolean, isSorted: boolean): Promise<number> {
    // In the order of ids, so that two imports cannot deadlock.
    const order = isSorted ? '' : `order by ${key}`;
    const values = columns.map(storedForm).join(', ');
    const rows = `select ${values} from staged where is_timed = ${isTimed} ${order}`;
    // A sequence counts the stale lines. The nodes of Citus do not have it.
    const stale = nodes === undefined ? `nextval('stale') < 0` : 'false';
    const upserting = upsert(
      kind,
      rows,
      `case when excluded.updated_at < ${kind}.updated_at then ${stale}
      else ${isChange(kind, 'excluded', kind, String(isTimed))} end`,
    );
    return count(`with changed as (${upserting} returning 1) select count(*) from changed`);
  }

  async function countStale(staged: Staged): Promise<number> {
    if (nodes !== undefined) return count(nodes.countStale(staged));
    const before = counted;
    counted = await count('select last_value as count from stale');
    return counted - before;
  }

  /** Each statement is a round trip: the later ones are left out if no line can be left for them. */
  async function upsertAll(staged: Staged, lines: number) {
    const { undo, isSorted } = staged;
    if (undo !== undefined) {
      await nodes?.bringStored(staged);
      await writeUndo(undo, selectUndo(kind, 'staged', isSorted, dialect));
    }
    let written = await upsertRows(true, isSorted);
    if (written < lines) written += await upsertRows(false, isSorted);
    return { written, deleted: 0, stale: written < lines ? await countStale(staged) : 0 };
  }

  async function decideAll(staged: Staged, lines: number) {
    const { undo } = staged;
    const now = new Date().toISOString();
    await nodes?.bringStored(staged);
    await query(`truncate decided; ${decide(kind, { ...staged, now }, dialect)}`);
    const { rows } = await query(countOutcomes);
    const of = (name: string) => Number(rows.find(({ outcome }) => outcome === name)?.count ?? 0);
    const [written, deleted] = [of('written'), of('deleted')];
    if (undo !== undefined) await writeUndo(undo, selectUndo(kind, 'decided', false, dialect));
    if (deleted > 0) await query(nodes?.deleteDecided(staged, deleted) ?? deleteDecided);
    if (written > 0) await query(writeDecided(kind, storedForm));
    if (staged.hasDeletions) {
      await query(rememberDecided(kind, now, dialect));
      await query(forgetOld);
    }
    const records = rows.reduce((sum, row) => sum + Number(row.count), 0);
    return { written, deleted, stale: of('stale') + lines - records };
  }

  const place = `(select t.ctid from ${kind} t where ${sameId(kind, 't', 'decided')})`;
  const deleteDecided = `
    delete from ${kind} where ctid = any (array(select ${place} from decided where outcome = 'deleted'))`;

  const forgetOld = `
    delete from ${deletionsOf(kind)} where recorded_at < now() - interval '${deletionDays} days'`;

  async function writeUndo(undo: UndoFile, selection: string): Promise<void> {
    const { exportBatchBrands, exportBatchRecords } = storeBounds;
    const size = kind === 'brands' ? exportBatchBrands : exportBatchRecords;
    for await (const rows of fetched(query, selection, Number.POSITIVE_INFINITY, size)) {
      undo.write(undoLines(kind, rows));
    }
  }

  return {
    creates: [
      `create temporary table decided (${typed.join(', ')})`,
      `create temporary sequence stale minvalue 0 start 0`,
      `select nextval('stale')`,
    ],
    hasRepeats: async () =>
      (await query(`select 1 from staged group by ${key} having count(*) > 1 limit 1`)).rowCount === 1,
    countMissing: async () => {
      await query('set enable_nestloop = off');
      const { missing, stored, share } = (await query(countMissing(kind))).rows[0];
      await query('reset enable_nestloop');
      return { missing: Number(missing), stored: Number(stored), share: Number(share) };
    },
    deleteMissing: async (at, undo) => {
      const isMissing = `${notStaged(kind)} and updated_at <= '${at}'`;
      await query('set local enable_nestloop = off');
      if (undo !== undefined) await writeUndo(undo, selectStored(kind, isMissing));
      const deleted = await count(`
        with gone as (
          delete from ${kind} where ${isMissing} returning ${key}
        ), remembered as (
          ${remember(kind, `select ${key}, '${at}'::timestamptz, now() from gone`, dialect)}
        ) select count(*) from gone`);
      await query(`${forgetOld}; set local enable_nestloop to default`);
      return deleted;
    },
    write: async (staged) => {
      if (staged.hasGone) await nodes?.bringGone(staged);
      // Brands have no customers.
      const erased = staged.hasGone && kind === 'balances' ? (await query(dropUntimed(dialect))).rows : [];
      const isPlain = !staged.hasRepeats && !staged.hasDeletions && !staged.overwrites;
      const dropped = isPlain && staged.hasGone ? await query(dropGone(kind, dialect)) : undefined;
      const gone = dropped?.rowCount ?? 0;
      const lines = staged.rows - gone - erased.length;
      const { stale, ...merged } = await (isPlain ? upsertAll : decideAll)(staged, lines);
      const rejected = erased.map(({ line }) => ({
        line: Number(line),
        ...customerErased,
      }));
      return { ...merged, stale: stale + gone, rejected };
    },
  };
}
