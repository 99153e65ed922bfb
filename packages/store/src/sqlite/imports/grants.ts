import type { DatabaseSync } from 'node:sqlite';
import { createGrantJudge, selectCompared } from '../../sql/consent.ts';
import { importColumns } from '../../sql/imports.ts';
import type { KindWrites } from './kind-writes.ts';
import { dialect } from './records.ts';

const columns = importColumns.grants.all;

/** Writes lines of grants one by one, because each is compared with the stored grant. */
export function createGrantWrites(db: DatabaseSync): KindWrites {
  return {
    tables: [],
    isEmpty: () => false,
    countMissing: () => ({ missing: 0, stored: 0, share: 0 }),
    deleteMissing: () => 0,
    merge: () => {
      const judge = createGrantJudge();
      const write = db.prepare(`
        insert into grants (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})
        on conflict (customer_id, id) do update set
          status = excluded.status, expires_at = excluded.expires_at, updated_at = excluded.updated_at`);
      for (const row of db.prepare(selectCompared(dialect)).iterate()) {
        const grant: Readonly<Record<string, string | undefined>> | undefined = judge.judge(row);
        if (grant !== undefined) write.run(...columns.map((column) => grant[column] ?? null));
      }
      return judge.merged;
    },
  };
}
