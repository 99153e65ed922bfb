/**
 * Copies of rows that Citus keeps on other nodes. It cannot look a stored row up for each row of a temporary
 * table, so the rows that the lines concern are copied into temporary tables first.
 */

import type { ImportKind } from '../../port.ts';
import { deletionsOf, importColumns, type RecordKind } from '../../sql/imports.ts';
import type { Query, Staged } from './kind-writes.ts';

const erased = 'erased_customers';

/** The temporary table with the copies. */
export function near(table: string): string {
  return `near_${table}`;
}

export type Nodes = ReturnType<typeof createNodes>;

export function createNodes(kind: ImportKind, query: Query) {
  const key = importColumns[kind].identity.join(', ');

  /** The limit shows the planner how many rows there are. The owners show Citus which nodes to ask. */
  async function bring(table: string, columns: string, { rows, owned }: Staged): Promise<void> {
    await query(`truncate ${near(table)}; insert into ${near(table)} select * from ${table}
      where ${owned(table)} and (${columns}) in (select ${columns} from staged limit ${rows})`);
  }

  return {
    /** The definitions of the temporary tables. With the primary keys: each row is looked up. */
    tables: [
      kind,
      ...(kind === 'grants' ? [] : [deletionsOf(kind)]),
      ...(kind === 'brands' ? [] : [erased]),
    ].map((table) => `${near(table)} (like ${table} including indexes)`),
    /** Copies the stored records. */
    bringStored: (staged: Staged) => bring(kind, key, staged),
    /** Copies remembered deletions and erasures. */
    bringGone: async (staged: Staged) => {
      if (kind !== 'grants') await bring(deletionsOf(kind as RecordKind), key, staged);
      if (kind !== 'brands') await bring(erased, 'customer_id', staged);
    },
  };
}
