import { storeBounds } from '@partner-network/common/bounds/store';
import { rejectErased } from '../../sql/consent.ts';
import { type UndoFile, undoLines } from '../../sql/exports.ts';
import { importColumns, type RecordKind, sameId } from '../../sql/imports.ts';
import { countOutcomes, outcomesOf, RecordStatements } from '../../sql/record-statements.ts';
import { fetched, type KindWrites, lookUp, type Query, type Staged, types } from './kind-writes.ts';
import { type LocalCopies, readableOn } from './local-copies.ts';

/**
 * Writes brands or balances from the table `staged`, in one of two ways:
 *
 *     upsert    each id has one line, and none deletes: `on conflict` finds the stored record
 *     decide    any other lines: the table `decided` says what happens to each record
 *
 * No statement depends on the statistics of a table, which may be old: stored records are looked up one by
 * one by their primary key, or whole tables are compared without nested loops.
 */
export class RecordWrites implements KindWrites {
  readonly #kind: RecordKind;
  readonly #query: Query;
  readonly #copies: LocalCopies | undefined;
  readonly #sql: RecordStatements;
  /** The stale lines of earlier writes, by the sequence. */
  #counted = 0;

  constructor(kind: RecordKind, query: Query, copies: LocalCopies | undefined) {
    this.#kind = kind;
    this.#query = query;
    this.#copies = copies;
    this.#sql = new RecordStatements(kind, {
      greatest: 'greatest',
      // A sequence counts the stale lines. The nodes of Citus do not have it.
      countStale: copies === undefined ? `nextval('stale') < 0` : 'false',
      daysAgo: (days) => `now() - interval '${days} days'`,
      stored: (column) => (column === 'metadata' ? 'metadata::json' : column),
      joined: lookUp,
      readable: readableOn(copies),
    });
  }

  get creates(): readonly string[] {
    const columns = this.#sql.decidedColumns();
    const typed = columns.map((name) => `${name} ${types[name] ?? 'text collate "C"'}`);
    return [
      `create temporary table decided (${typed.join(', ')})`,
      `create temporary sequence stale minvalue 0 start 0`,
      `select nextval('stale')`,
    ];
  }

  async hasRepeats() {
    return (await this.#query(this.#sql.selectRepeated())).rowCount === 1;
  }

  async countMissing() {
    await this.#query('set enable_nestloop = off');
    const { missing, stored, share } = (await this.#query(this.#sql.countMissing())).rows[0];
    await this.#query('reset enable_nestloop');
    return { missing: Number(missing), stored: Number(stored), share: Number(share) };
  }

  async deleteMissing(at: string, undo: UndoFile | undefined) {
    const { key } = importColumns[this.#kind];
    const isMissing = this.#sql.isMissing(at);
    await this.#query('set local enable_nestloop = off');
    if (undo !== undefined) await this.#writeUndo(undo, this.#sql.selectStored(isMissing));
    const deleted = await this.#count(`
        with gone as (
          delete from ${this.#kind} where ${isMissing} returning ${key}
        ), remembered as (
          ${this.#sql.remember(`select ${key}, '${at}'::timestamptz, now() from gone`)}
        ) select count(*) from gone`);
    await this.#query(`${this.#sql.forgetOld()}; set local enable_nestloop to default`);
    return deleted;
  }

  async write(staged: Staged) {
    const { rows, hasGone, hasRepeats, hasDeletions, overwrites } = staged;
    if (hasGone) await this.#copies?.bringGone(staged);
    // Brands have no customers.
    const isErasable = hasGone && this.#kind === 'balances';
    const rejected = isErasable ? rejectErased((await this.#query(this.#sql.dropUntimed())).rows) : [];
    const canUpsert = !hasRepeats && !hasDeletions && !overwrites;
    const gone = canUpsert && hasGone ? (await this.#query(this.#sql.dropGone())).rowCount! : 0;
    const lines = rows - gone - rejected.length;
    const merged = await (canUpsert ? this.#upsertAll(staged, lines) : this.#decideAll(staged, lines));
    return { ...merged, stale: merged.stale + gone, rejected };
  }

  /** Each statement is a round trip: the later ones are left out if no line can be left for them. */
  async #upsertAll(staged: Staged, lines: number) {
    const { undo, isSorted } = staged;
    if (undo !== undefined) {
      await this.#copies?.bringStored(staged);
      await this.#writeUndo(undo, this.#sql.selectUndo('staged', isSorted));
    }
    let written = await this.#upsert(true, isSorted);
    if (written < lines) written += await this.#upsert(false, isSorted);
    return { written, deleted: 0, stale: written < lines ? await this.#countStale(staged) : 0 };
  }

  #upsert(isTimed: boolean, isSorted: boolean): Promise<number> {
    const upserting = this.#sql.upsertStaged(isTimed, isSorted);
    return this.#count(`with changed as (${upserting} returning 1) select count(*) from changed`);
  }

  async #countStale(staged: Staged): Promise<number> {
    if (this.#copies !== undefined) return this.#count(this.#copies.countStale(staged));
    const before = this.#counted;
    this.#counted = await this.#count('select last_value as count from stale');
    return this.#counted - before;
  }

  /** Citus reports the number of rows that it sent to its nodes, changed or not, so rows are counted here. */
  async #count(text: string): Promise<number> {
    return Number([await this.#query(text)].flat().at(-1)!.rows[0].count);
  }

  async #decideAll(staged: Staged, lines: number) {
    const sql = this.#sql;
    const query = this.#query;
    const copies = this.#copies;
    const now = new Date().toISOString();
    await copies?.bringStored(staged);
    await query(`truncate decided; ${sql.decide(staged, now)}`);
    const outcomes = outcomesOf((await query(countOutcomes)).rows, lines);
    const { written, deleted } = outcomes;
    if (staged.undo !== undefined) await this.#writeUndo(staged.undo, sql.selectUndo('decided', false));
    if (deleted > 0) await query(copies?.deleteDecided(staged, deleted) ?? deleteDecided(this.#kind));
    if (written > 0) await query(sql.writeDecided());
    if (staged.hasDeletions) {
      await query(sql.rememberDecided(now));
      await query(sql.forgetOld());
    }
    return outcomes;
  }

  async #writeUndo(undo: UndoFile, selection: string): Promise<void> {
    const size = this.#kind === 'brands' ? storeBounds.exportBatchBrands : storeBounds.exportBatchRecords;
    for await (const rows of fetched(this.#query, selection, Number.POSITIVE_INFINITY, size)) {
      undo.write(undoLines(this.#kind, rows));
    }
  }
}

function deleteDecided(kind: RecordKind): string {
  const place = `(select t.ctid from ${kind} t where ${sameId(kind, 't', 'decided')})`;
  return `
    delete from ${kind} where ctid = any (array(select ${place} from decided where outcome = 'deleted'))`;
}
