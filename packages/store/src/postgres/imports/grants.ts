import { ingestBounds } from '@partner-network/common/bounds/operator';
import type { ImportResult } from '../../port.ts';
import { type GrantLine, judge, type StoredGrant } from '../../sql/consent.ts';
import { sameId } from '../../sql/imports.ts';
import { fetched, type KindWrites, lookUp, type Query, type Row } from './kind-writes.ts';
import { type Nodes, near } from './local-copies.ts';

const columns = ['partner_id', 'action', 'status', 'expires_at', 'created_at', 'updated_at'];

/** All lines with what is stored, in the order of the table. */
function compared(isNear: boolean): string {
  const readable = (table: string) => (isNear ? near(table) : table);
  return `
    select n.*, g.created_at is not null as is_stored, e.erased_at,
      ${columns.map((column) => `g.${column} as stored_${column}`).join(', ')}
    from staged n
    ${lookUp(readable('grants'), 'g', sameId('grants', 'g', 'n'))}
    ${lookUp(readable('erased_customers'), 'e', 'e.customer_id = n.customer_id')}
    order by n.customer_id, n.id, n.line`;
}

/**
 * $1 is a JSON list of grants. A grant that was revoked since it was read stays revoked, unless the line ends
 * it at an earlier time.
 */
const writeAll = `
  insert into grants (customer_id, id, ${columns.join(', ')})
  select customer_id, id, ${columns.join(', ')}
  from json_to_recordset($1) as given (
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
export function createGrantWrites(query: Query, nodes: Nodes | undefined): KindWrites {
  return {
    creates: [],
    // Repeated ids need no special treatment.
    hasRepeats: async () => false,
    countMissing: async () => ({ missing: 0, stored: 0, share: 0 }),
    deleteMissing: async () => 0,
    write: async (staged) => {
      await nodes?.bringStored(staged);
      await nodes?.bringGone(staged);
      const merged = { written: 0, stale: 0, deleted: 0 };
      const rejected: ImportResult['rejected'][number][] = [];
      /** The last id, and the grant as the lines so far have changed it. */
      let last: { readonly id: string; grant: StoredGrant | undefined } = { id: '', grant: undefined };
      const selection = compared(nodes !== undefined);
      for await (const rows of fetched(query, selection, staged.rows, ingestBounds.importBatchRecords)) {
        const changed = new Map<string, object>();
        for (const row of rows) {
          const id = JSON.stringify([row.customer_id, row.id]);
          if (last.id !== id) last = { id, grant: storedOf(row) };
          const verdict = judge(last.grant, lineOf(row), (row.erased_at ?? undefined) as string | undefined);
          if (verdict.outcome === 'stale') merged.stale += 1;
          else if (verdict.outcome === 'rejected') {
            rejected.push({ line: Number(row.line), code: verdict.code, field: verdict.field });
          } else if (verdict.outcome === 'written') {
            merged.written += 1;
            last.grant = verdict.grant;
            changed.set(id, { customer_id: row.customer_id, id: row.id, ...verdict.grant });
          }
        }
        if (changed.size > 0) await query(writeAll, [JSON.stringify([...changed.values()])]);
      }
      return { ...merged, rejected };
    },
  };
}

function storedOf(row: Row): StoredGrant | undefined {
  if (!row.is_stored) return undefined;
  const stored = columns.map((column) => [column, row[`stored_${column}`] ?? undefined]);
  return Object.fromEntries(stored) as unknown as StoredGrant;
}

function lineOf(row: Row): GrantLine {
  const line = columns.map((column) => [column, row[column] ?? undefined]);
  return { ...Object.fromEntries(line), isTimed: row.is_timed === '1' } as GrantLine;
}
