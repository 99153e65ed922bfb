import type { ImportKind, ImportRow } from '../port.ts';

interface ImportColumns {
  /** The primary key. */
  readonly identity: readonly string[];
  /** Columns that make a row count as changed. */
  readonly content: readonly string[];
  /** All columns in the order in which rows are staged. A record's times come last. */
  readonly all: readonly string[];
}

function columns(identity: string[], content: string[]): ImportColumns {
  return { identity, content, all: [...identity, ...content, 'created_at', 'updated_at'] };
}

export const importColumns: Readonly<Record<ImportKind, ImportColumns>> = {
  brands: columns(['partner_id', 'id'], ['name', 'reference_id', 'color', 'profile_image_url', 'metadata']),
  balances: columns(['customer_id', 'id'], ['type', 'currency', 'amount']),
  grants: columns(['customer_id', 'id'], ['partner_id', 'action', 'status', 'expires_at']),
};

/** Surrogates sort before U+E000 in JavaScript but after it in a table, which compares bytes. */
const surrogate = /[\ud800-\udfff]/;

/**
 * Returns a function that tells whether these rows and all rows before them are in the table's order without
 * a repeated id, as in an export: such rows need no sorting. It returns false if it cannot be sure.
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
