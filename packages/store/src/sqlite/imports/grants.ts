import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { ImportResult } from '../../port.ts';
import { type GrantLine, judge, type StoredGrant } from '../../sql/consent.ts';
import { withoutNulls } from '../../sql/statement.ts';
import type { KindWrites, Tally } from './kind-writes.ts';

const columns = 'partner_id, action, status, expires_at, created_at, updated_at';

/** Writes lines of grants one by one, because each is compared with the stored grant. */
export function createGrantWrites(db: DatabaseSync, tally: Tally): KindWrites {
  return {
    tables: [],
    isEmpty: () => false,
    countMissing: () => ({ missing: 0, stored: 0, share: 0 }),
    deleteMissing: () => {},
    merge: () => {
      const find = db.prepare(`select ${columns} from grants where customer_id = ? and id = ?`);
      const write = db.prepare(`
        insert into grants (customer_id, id, ${columns}) values (?, ?, ?, ?, ?, ?, ?, ?)
        on conflict (customer_id, id) do update set
          status = excluded.status, expires_at = excluded.expires_at, updated_at = excluded.updated_at`);
      const rejected: ImportResult['rejected'][number][] = [];
      const lines = db.prepare(`
        select staged.*, e.erased_at from staged left join erased_customers e using (customer_id)
        order by customer_id, id, line`);
      for (const row of lines.iterate()) {
        const id = [row.customer_id as string, row.id as string] as const;
        const stored = find.get(...id);
        const erasedAt = (row.erased_at ?? undefined) as string | undefined;
        const verdict = judge(stored && (withoutNulls(stored) as StoredGrant), lineOf(row), erasedAt);
        if (verdict.outcome === 'stale') tally.stale += 1;
        else if (verdict.outcome === 'rejected') {
          rejected.push({ line: Number(row.line), code: verdict.code, field: verdict.field });
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
