import { ingestBounds } from '@partner-network/common/bounds/operator';
import { createGrantJudge, selectCompared } from '../../sql/consent.ts';
import { importColumns } from '../../sql/imports.ts';
import { fetched, type KindWrites, lookUp, type Query } from './kind-writes.ts';
import { type LocalCopies, readableOn } from './local-copies.ts';

const columns = importColumns.grants.all.join(', ');

/**
 * $1 is a JSON list of grants. A grant that was revoked since it was read stays revoked, unless the line ends
 * it at an earlier time.
 */
const writeAll = `
  insert into grants (${columns}) select ${columns}
  from json_to_recordset($1) as listed (
    customer_id text, id text, partner_id text, action text, status text,
    expires_at timestamptz, created_at timestamptz, updated_at timestamptz
  )
  on conflict (customer_id, id) do update set
    status = case when excluded.status = 'ACTIVE' then grants.status else excluded.status end,
    expires_at = excluded.expires_at,
    updated_at = case
      when excluded.status = 'ACTIVE' then greatest(grants.updated_at, excluded.updated_at)
      else excluded.updated_at
    end
  where 'ACTIVE' in (grants.status, excluded.status) or excluded.updated_at <= grants.updated_at`;

/**
 * Writes lines of grants from the table `staged`, one by one, because each is compared with the stored grant.
 * The caller holds the lock for new grants, so nothing but a revocation can change a grant meanwhile. No row
 * is locked: Citus cannot lock rows on several nodes.
 */
export function createGrantWrites(query: Query, copies: LocalCopies | undefined): KindWrites {
  return {
    tables: [],
    countMissing: async () => ({ missing: 0, stored: 0, share: 0 }),
    deleteMissing: async () => 0,
    write: async (staged) => {
      await copies?.bringStored(staged);
      await copies?.bringGone(staged);
      const judge = createGrantJudge();
      const selection = selectCompared({ joined: lookUp, readable: readableOn(copies) });
      for await (const rows of fetched(query, selection, staged.rows, ingestBounds.importBatchRecords)) {
        // The last line of a grant has what all its lines do.
        const changed = new Map<string, object>();
        for (const row of rows) {
          const grant = judge.judge(row);
          if (grant !== undefined) changed.set(JSON.stringify([grant.customer_id, grant.id]), grant);
        }
        if (changed.size > 0) await query(writeAll, [JSON.stringify([...changed.values()])]);
      }
      return judge.merged;
    },
  };
}
