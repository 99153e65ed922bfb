import {
  countMissing,
  deletionDays,
  deletionsOf,
  importColumns,
  isGone,
  notStaged,
  type RecordKind,
  sameId,
  upsert,
} from '../../sql/imports.ts';
import type { KindWrites, Query, Staged } from './kind-writes.ts';

/**
 * Writes brands or balances from the table `staged`. Ids with one line are written by a few statements, which
 * read all of them. The lines of repeated ids, and deletions, are written one by one, in their order.
 */
export function createRecordWrites(kind: RecordKind, query: Query): KindWrites {
  const { identity, all } = importColumns[kind];
  const key = identity.join(', ');
  const deletions = deletionsOf(kind);
  const changes = async (text: string, ...values: unknown[]) => (await query(text, values)).rowCount ?? 0;

  /** Merges the lines that give `updated_at`, or those that do not. */
  function merge(isTimed: boolean, isSorted: boolean): Promise<number> {
    const columns = all.map((name) => (name === 'metadata' ? 'metadata::json' : name)).join(', ');
    // In the order of ids, so that two imports cannot deadlock.
    const order = isSorted ? '' : `order by ${key}`;
    const rows = `select ${columns} from staged where is_timed = ${isTimed} ${order}`;
    return changes(upsert(kind, rows, isChange(kind, String(isTimed))));
  }

  /** Moves the lines of repeated ids and the deletions out of `staged`, and writes them one by one. */
  async function writeOneByOne(): Promise<{ rows: number; written: number; stale: number; deleted: number }> {
    await query('analyze staged');
    await query(`
      create temporary table ordered on commit drop as
      select * from staged where (${key}) in (
        select ${key} from staged group by ${key} having count(*) > 1 or max(deleted_at) is not null
      )`);
    const rows = await changes('delete from staged using ordered r where r.seq = staged.seq');
    await query(oneByOne(kind));
    const { rows: set } = await query(`select current_setting('partner_network.counts')::json as counts`);
    return { rows, ...set[0].counts };
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
      changes(
        `with gone as (
          delete from ${kind} where ${notStaged(kind)} and updated_at <= $1 returning ${key}
        ) ${remember(kind, `select ${key}, $1::timestamptz, now() from gone`)}`,
        at,
      ),
    write: async ({ isSorted, hasRepeats, rows, deletions: given }: Staged) => {
      const isPlain = !hasRepeats && given === 0;
      const first = isPlain ? { rows: 0, written: 0, stale: 0, deleted: 0 } : await writeOneByOne();
      let stale = await changes(`delete from staged where ${isGone(kind, 'staged')}`);
      // Each statement is a round trip: the later ones are left out if no line can be left for them.
      const most = rows - first.rows - stale;
      let written = await merge(true, isSorted);
      if (written < most) written += await merge(false, isSorted);
      if (written < most) {
        const { rows: late } = await query(`
          select count(*) as found from staged s join ${kind} on ${sameId(kind, 's', kind)}
          where s.updated_at < ${kind}.updated_at`);
        stale += Number(late[0].found);
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

/** Remembers deletions, each with the latest time that was given. */
function remember(kind: RecordKind, rows: string): string {
  const [table, key] = [deletionsOf(kind), importColumns[kind].identity.join(', ')];
  return `
    insert into ${table} (${key}, deleted_at, recorded_at) ${rows}
    on conflict (${key}) do update set
      deleted_at = greatest(${table}.deleted_at, excluded.deleted_at), recorded_at = excluded.recorded_at`;
}

/** Writes the lines of the table `ordered` in their order, and leaves the counts in a setting. */
function oneByOne(kind: RecordKind): string {
  const { identity, all } = importColumns[kind];
  const row = all.map((name) => (name === 'metadata' ? 'r.metadata::json' : `r.${name}`));
  return `
    do $$
    declare
      r record;
      changed integer;
      written integer := 0;
      stale integer := 0;
      deleted integer := 0;
    begin
      for r in select * from ordered order by ${identity.join(', ')}, seq loop
        changed := 0;
        if r.deleted_at is not null then
          delete from ${kind} where ${sameId(kind, kind, 'r')} and updated_at <= r.deleted_at;
          get diagnostics changed = row_count;
          deleted := deleted + changed;
          ${remember(kind, `values (${identity.map((name) => `r.${name}`)}, r.deleted_at, now())`)};
          if changed = 0 and exists (select 1 from ${kind} where ${sameId(kind, kind, 'r')}) then
            stale := stale + 1;
          end if;
        elsif ${isGone(kind, 'r')} then
          stale := stale + 1;
        else
          ${upsert(kind, `values (${row.join(', ')})`, isChange(kind, 'r.is_timed'))};
          get diagnostics changed = row_count;
          written := written + changed;
          if changed = 0 and exists (
            select 1 from ${kind} where ${sameId(kind, kind, 'r')} and updated_at > r.updated_at
          ) then
            stale := stale + 1;
          end if;
        end if;
      end loop;
      perform set_config(
        'partner_network.counts',
        json_build_object('written', written, 'stale', stale, 'deleted', deleted)::text,
        true
      );
    end
    $$`;
}
