import { storeBounds } from '@partner-network/common/bounds/store';
import { rejectErased } from '../../sql/consent.ts';
import { type UndoFile, undoLines } from '../../sql/exports.ts';
import { importColumns, type RecordKind, sameId } from '../../sql/imports.ts';
import { countOutcomes, outcomesOf, RecordStatements } from '../../sql/record-statements.ts';
import { fetched, type KindWrites, lookUp, type Query, type Staged, types } from './kind-writes.ts';
import { type LocalCopies, readableOn } from './local-copies.ts';

/**
 * Writes brands or balances from the table `staged`. The table `decided` says what happens to each record.
 * No statement depends on the statistics of a table, which may be old: stored records are looked up one by
 * one by their primary key, or whole tables are compared without nested loops.
 */
export class RecordWrites implements KindWrites {
  readonly #kind: RecordKind;
  readonly #query: Query;
  readonly #copies: LocalCopies | undefined;
  readonly #sql: RecordStatements;
  constructor(kind: RecordKind, query: Query, copies: LocalCopies | undefined) {
    this.#kind = kind;
    this.#query = query;
    this.#copies = copies;
    this.#sql = new RecordStatements(kind, {
      greatest: 'greatest',
      newest: (key) => `
        select distinct on (${key}) * from staged
        order by ${key}, coalesce(deleted_at, updated_at) desc, deleted_at is null, line desc`,
      daysAgo: (days) => `now() - interval '${days} days'`,
      stored: (column) => (column === 'metadata' ? 'metadata::json' : column),
      joined: lookUp,
      readable: readableOn(copies),
    });
  }

  get tables(): readonly string[] {
    const columns = this.#sql.decidedColumns();
    const typed = columns.map((name) => `${name} ${types[name] ?? 'text collate "C"'}`);
    return [`decided (${typed.join(', ')})`];
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
    const { rows } = await this.#query(`
        with gone as (
          delete from ${this.#kind} where ${isMissing} returning ${key}
        ), remembered as (
          ${this.#sql.remember(`select ${key}, '${at}'::timestamptz, now() from gone`)}
        ) select count(*) from gone`);
    await this.#query(`${this.#sql.forgetOld()}; set local enable_nestloop to default`);
    return Number(rows[0].count);
  }

  async write(staged: Staged) {
    const { rows, hasGone, hasDeletions, overwrites, undo } = staged;
    const query = this.#query;
    const sql = this.#sql;
    const copies = this.#copies;
    if (hasGone) await copies?.bringGone(staged);
    // Brands have no customers.
    const isErasable = hasGone && this.#kind === 'balances';
    const rejected = isErasable ? rejectErased((await query(sql.dropUntimed())).rows) : [];
    const now = new Date().toISOString();
    await copies?.bringStored(staged);
    const counting = [await query(`${sql.decide(staged, now)}; ${countOutcomes}`)].flat().at(-1)!;
    const { written, deleted, stale } = outcomesOf(counting.rows, rows - rejected.length);
    if (undo !== undefined) await this.#writeUndo(undo, sql.selectUndo());
    // Each statement is a round trip, so those without rows are left out.
    if (deleted > 0) await query(copies?.deleteDecided(staged, deleted) ?? deleteDecided(this.#kind));
    const kept = written > 0 ? await this.#count(sql.writeDecided(overwrites)) : 0;
    if (hasDeletions) await query(`${sql.rememberDecided(now)}; ${sql.forgetOld()}`);
    return { written: kept, deleted, stale: stale + written - kept, rejected };
  }

  /** Runs a statement, and counts the rows that it changed: Citus reports all rows that it sent to nodes. */
  async #count(statement: string): Promise<number> {
    const counting = `with changed as (${statement} returning 1) select count(*) from changed`;
    return Number((await this.#query(counting)).rows[0].count);
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
