import {
  countMissing,
  deletionDays,
  deletionsOf,
  importColumns,
  notStaged,
  type RecordKind,
  sameId,
  upsert,
} from '../../sql/imports.ts';
import { all, type KindWrites, type Local, type Query, type Staged } from './kind-writes.ts';
import { remember, writeOneByOne } from './one-by-one.ts';

/**
 * Writes brands or balances from the table `staged`. Ids with one line are written by a few statements, which
 * read all of them. The lines of repeated ids, and deletions, are written one by one, in their order.
 */
export function createRecordWrites(kind: RecordKind, query: Query): KindWrites {
  const { identity, all: columns } = importColumns[kind];
  const key = identity.join(', ');
  const deletions = deletionsOf(kind);
  /** Rows of `staged` that a statement found or deleted. */
  const changes = async (text: string) => (await query(text)).rowCount ?? 0;
  /** For other tables: Citus reports the number of rows that it sent to its nodes, changed or not. */
  const count = async (text: string, ...values: unknown[]) =>
    Number((await query(text, values)).rows[0].count);

  /** Merges the lines that give `updated_at`, or those that do not. */
  function merge(isTimed: boolean, isSorted: boolean): Promise<number> {
    const values = columns.map((name) => (name === 'metadata' ? 'metadata::json' : name)).join(', ');
    // In the order of ids, so that two imports cannot deadlock.
    const order = isSorted ? '' : `order by ${key}`;
    const rows = `select ${values} from staged where is_timed = ${isTimed} ${order}`;
    const merging = upsert(kind, rows, isChange(kind, String(isTimed)));
    return count(`with changed as (${merging} returning 1) select count(*) from changed`);
  }

  /** Writes the lines of repeated ids and the deletions one by one, and removes them from `staged`. */
  async function writeOrdered(owned: Local['owned']) {
    await query('analyze staged');
    // They get negative numbers: another table would take two milliseconds.
    const rows = await changes(`
      update staged set seq = -seq where (${key}) in (
        select ${key} from staged group by ${key} having count(*) > 1 or max(deleted_at) is not null
      )`);
    const outcomes = await writeOneByOne(kind, { table: 'staged where seq < 0', rows, owned }, query);
    await query('delete from staged where seq < 0');
    return { rows, ...outcomes };
  }

  return {
    hasRepeats: async () =>
      (await changes(`select 1 from staged group by ${key} having count(*) > 1 limit 1`)) > 0,
    countMissing: async () => {
      await query('analyze staged');
      const { missing, stored, share } = (await query(countMissing(kind))).rows[0];
      return { missing: Number(missing), stored: Number(stored), share: Number(share) };
    },
    deleteMissing: (at) =>
      count(
        `with gone as (
          delete from ${kind} where ${notStaged(kind)} and updated_at <= $1 returning ${key}
        ), remembered as (
          ${remember(kind, `select ${key}, $1::timestamptz, now() from gone`)}
        ) select count(*) from gone`,
        at,
      ),
    write: async ({ isSorted, hasRepeats, hasGone, rows, owned, deletions: given }: Staged) => {
      const isPlain = !hasRepeats && given === 0;
      const first = isPlain ? { rows: 0, written: 0, stale: 0, deleted: 0 } : await writeOrdered(owned);
      const staged = all(`seq, ${key}, updated_at`, { table: 'staged', rows, owned });
      let stale = hasGone
        ? await changes(`delete from staged where seq in (${goneStaged(kind, staged, owned)})`)
        : 0;
      // Each statement is a round trip: the later ones are left out if no line can be left for them.
      const most = rows - first.rows - stale;
      let written = await merge(true, isSorted);
      if (written < most) written += await merge(false, isSorted);
      if (written < most) {
        stale += await count(`
          select count(*) from ${staged} s join ${kind} on ${sameId(kind, 's', kind)}
          where s.updated_at < ${kind}.updated_at and ${owned(kind)}`);
      }
      if (given > 0)
        await query(`delete from ${deletions} where recorded_at < now() - interval '${deletionDays} days'`);
      return {
        written: written + first.written,
        stale: stale + first.stale,
        deleted: first.deleted,
        rejected: [],
      };
    },
  };
}

/**
 * Selects the staged rows that are not newer than a deletion of the record or the erasure of the customer.
 * They must not bring the record back.
 */
function goneStaged(kind: RecordKind, staged: string, owned: Local['owned']): string {
  const deleted = `
    select s.seq from ${staged} s join ${deletionsOf(kind)} d on ${sameId(kind, 's', 'd')}
    where d.deleted_at >= s.updated_at and ${owned('d')}`;
  const erased = `
    select s.seq from ${staged} s join erased_customers e on e.customer_id = s.customer_id
    where e.erased_at >= s.updated_at and ${owned('e')}`;
  return kind === 'brands' ? deleted : `${deleted} union all ${erased}`;
}

/** A newer line changes a record if its content differs, or if it gives its own time. */
function isChange(kind: RecordKind, isTimed: string): string {
  // JSON is compared as text, with sorted keys: json has no equality.
  const asText = (column: string) => (column === 'metadata' ? 'metadata::text' : column);
  const content = (table: string) =>
    `row(${importColumns[kind].content.map((column) => `${table}.${asText(column)}`).join(', ')})`;
  return `excluded.updated_at >= ${kind}.updated_at and (
    ${content(kind)} is distinct from ${content('excluded')}
    or (${isTimed} and excluded.updated_at > ${kind}.updated_at))`;
}
