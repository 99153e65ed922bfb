import type { DatabaseSync } from 'node:sqlite';
import { GrantJudge, selectCompared } from '../../sql/consent.ts';
import type { KindWrites, Tally } from './kind-writes.ts';
import { dialect } from './records.ts';

const columns = 'partner_id, action, status, expires_at, created_at, updated_at';

/** Writes lines of grants one by one, because each is compared with the stored grant. */
export function createGrantWrites(db: DatabaseSync, tally: Tally): KindWrites {
  return {
    tables: [],
    isEmpty: () => false,
    countMissing: () => ({ missing: 0, stored: 0, share: 0 }),
    deleteMissing: () => {},
    merge: () => {
      const judge = new GrantJudge();
      const write = db.prepare(`
        insert into grants (customer_id, id, ${columns}) values (?, ?, ?, ?, ?, ?, ?, ?)
        on conflict (customer_id, id) do update set
          status = excluded.status, expires_at = excluded.expires_at, updated_at = excluded.updated_at`);
      for (const row of db.prepare(selectCompared(dialect)).iterate()) {
        const grant = judge.judge(row);
        if (grant === undefined) continue;
        const { customer_id, id, partner_id, action, status, expires_at = null } = grant;
        write.run(
          customer_id,
          id,
          partner_id,
          action,
          status,
          expires_at,
          grant.created_at,
          grant.updated_at,
        );
      }
      tally.written += judge.merged.written;
      tally.stale += judge.merged.stale;
      return judge.merged.rejected;
    },
  };
}
