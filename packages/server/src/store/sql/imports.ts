import type { ImportKind, ImportRow } from '../port.ts';

/** The primary key, the columns that make a row count as changed, and all columns as they are staged. */
function columns(identity: readonly string[], content: readonly string[]) {
  return { identity, content, all: [...identity, ...content, 'created_at', 'updated_at'] };
}

export const importColumns: Readonly<Record<ImportKind, ReturnType<typeof columns>>> = {
  brands: columns(['partner_id', 'id'], ['name', 'reference_id', 'color', 'profile_image_url', 'metadata']),
  balances: columns(['customer_id', 'id'], ['type', 'currency', 'amount']),
  grants: columns(['customer_id', 'id'], ['partner_id', 'action', 'status', 'expires_at']),
};

/** Inserts rows, and replaces existing ones where the condition holds, except their creation time. */
export function upsert(kind: ImportKind, rows: string, condition: string): string {
  const { identity, content, all } = importColumns[kind];
  const updates = [...content, 'updated_at'].map((column) => `${column} = excluded.${column}`);
  return `
    insert into ${kind} (${all.join(', ')})
    ${rows}
    on conflict (${identity.join(', ')}) do update set ${updates.join(', ')}
    where ${condition}`;
}

/** Surrogates sort before U+E000 in JavaScript but after it in a table, which compares bytes. */
const surrogate = /[\ud800-\udfff]/;

/**
 * Returns a function that checks whether these rows and all rows before them are in the table's order without
 * a repeated id, as in an export: then they need no sorting. It returns false if it cannot be sure.
 */
export function createOrderCheck(kind: ImportKind): (rows: readonly ImportRow[]) => boolean {
  const [first = '', second = ''] = importColumns[kind].identity;
  let isSorted = true;
  let last: readonly [string, string] = ['', ''];

  function isNext(row: ImportRow): boolean {
    const [before, beforeId] = last;
    last = [String(row[first]), String(row[second])];
    if (surrogate.test(last[0]) || surrogate.test(last[1])) return false;
    return last[0] > before || (last[0] === before && last[1] > beforeId);
  }

  return (rows) => {
    isSorted &&= rows.every(isNext);
    return isSorted;
  };
}
