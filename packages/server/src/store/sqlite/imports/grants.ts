import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { type GrantLine, judge, type StoredGrant } from '../../sql/consent.ts';
import { grantLineColumns, isGone } from '../../sql/imports.ts';
import type { KindWrites } from './kind-writes.ts';

const stored = 'partner_id, action, status, expires_at, created_at, updated_at';

/** Writes lines of grants one by one, because each is compared with the stored grant. */
export function createGrantWrites(db: DatabaseSync): KindWrites {
  const parameters = grantLineColumns.map(() => '?').join(', ');

  return {
    columns: grantLineColumns,
    stage: ({ values }) => {
      const insert = db.prepare(`insert into staged values (${parameters})`);
      for (let start = 0; start < values.length; start += grantLineColumns.length) {
        insert.run(...values.slice(start, start + grantLineColumns.length));
      }
    },
    clear: () => db.exec('delete from staged'),
    place: () => false,
    countMissing: () => ({ missing: 0, stored: 0 }),
    deleteMissing: () => {},
    move: (tally) => {
      const find = db.prepare(`select ${stored} from grants where customer_id = ? and id = ?`);
      const write = db.prepare(`
        insert into grants (customer_id, id, ${stored}) values (?, ?, ?, ?, ?, ?, ?, ?)
        on conflict (customer_id, id) do update set
          status = excluded.status, expires_at = excluded.expires_at, updated_at = excluded.updated_at`);
      const rejected: { line: number; fields: readonly string[] }[] = [];
      const lines = db.prepare(`
        select *, ${isGone('grants', 'staged')} as is_gone from staged order by customer_id, id, rowid`);
      for (const row of lines.iterate()) {
        const id = [row.customer_id as string, row.id as string] as const;
        const verdict =
          row.is_gone === 1
            ? ({ outcome: 'stale' } as const)
            : judge(present(find.get(...id)) as StoredGrant | undefined, lineOf(row));
        if (verdict.outcome === 'rejected') {
          rejected.push({ line: Number(row.line), fields: verdict.fields });
        } else if (verdict.outcome === 'written') {
          const { partner_id, action, status, expires_at = null, created_at, updated_at } = verdict.grant;
          write.run(...id, partner_id, action, status, expires_at, created_at, updated_at);
        }
        if (verdict.outcome === 'written' || verdict.outcome === 'stale') tally[verdict.outcome] += 1;
      }
      return rejected;
    },
  };
}

type Row = Readonly<Record<string, SQLInputValue>>;

/** A row without its nulls: an absent field has no value. */
function present(row: Row | undefined): object | undefined {
  return row && Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

function lineOf(row: Row): GrantLine {
  const { is_timed, ...line } = present(row) as GrantLine & { is_timed: unknown };
  return { ...line, isTimed: Number(is_timed) === 1 };
}
