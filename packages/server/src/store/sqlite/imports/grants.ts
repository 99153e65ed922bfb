import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { type GrantLine, judge, type StoredGrant, stale } from '../../sql/consent.ts';
import { grantLineColumns, isGone } from '../../sql/imports.ts';
import { withoutNulls } from '../../sql/statement.ts';
import type { KindWrites, Tally } from './kind-writes.ts';

const columns = 'partner_id, action, status, expires_at, created_at, updated_at';

/** Writes lines of grants one by one, because each is compared with the stored grant. */
export function createGrantWrites(db: DatabaseSync, tally: Tally): KindWrites {
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
    countMissing: () => ({ missing: 0, stored: 0, share: 0 }),
    deleteMissing: () => {},
    move: () => {
      const find = db.prepare(`select ${columns} from grants where customer_id = ? and id = ?`);
      const write = db.prepare(`
        insert into grants (customer_id, id, ${columns}) values (?, ?, ?, ?, ?, ?, ?, ?)
        on conflict (customer_id, id) do update set
          status = excluded.status, expires_at = excluded.expires_at, updated_at = excluded.updated_at`);
      const rejected: { line: number; fields: readonly string[] }[] = [];
      const lines = db.prepare(`
        select *, ${isGone('grants', 'staged')} as is_gone from staged order by customer_id, id, rowid`);
      for (const row of lines.iterate()) {
        const id = [row.customer_id as string, row.id as string] as const;
        const stored = find.get(...id);
        // A grant that is stored is newer than the erasure, and every line may end it.
        const verdict =
          row.is_gone && stored === undefined
            ? stale
            : judge(stored && (withoutNulls(stored) as StoredGrant), lineOf(row));
        if (verdict.outcome === 'stale') tally.stale += 1;
        else if (verdict.outcome === 'rejected') {
          rejected.push({ line: Number(row.line), fields: verdict.fields });
        } else if (verdict.outcome === 'written') {
          const { partner_id, action, status, expires_at = null, created_at, updated_at } = verdict.grant;
          write.run(...id, partner_id, action, status, expires_at, created_at, updated_at);
          tally.written += 1;
        }
      }
      return rejected;
    },
  };
}

type Row = Readonly<Record<string, SQLInputValue>>;

function lineOf(row: Row): GrantLine {
  const { is_timed, ...line } = withoutNulls(row) as GrantLine & { is_timed: unknown };
  return { ...line, isTimed: Number(is_timed) === 1 };
}
