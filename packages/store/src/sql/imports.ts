import { type ImportKind, type ImportResult, type ImportRow, StoreUnavailable } from '../port.ts';

/** The primary key, also as a list in SQL, the columns that make a row count as changed, and all columns. */
function columns(identity: readonly string[], content: readonly string[]) {
  const all = [...identity, ...content, 'created_at', 'updated_at'];
  return { identity, key: identity.join(', '), content, all };
}

export const importColumns: Readonly<Record<ImportKind, ReturnType<typeof columns>>> = {
  brands: columns(['partner_id', 'id'], ['name', 'reference_id', 'color', 'profile_image_url', 'metadata']),
  balances: columns(['customer_id', 'id'], ['type', 'currency', 'amount']),
  grants: columns(['customer_id', 'id'], ['partner_id', 'action', 'status', 'expires_at']),
};

/** What the lines of a write did. Lines without an outcome are unchanged. */
export type Merged = Pick<ImportResult, 'written' | 'stale' | 'deleted' | 'rejected'>;

export const nothing: Merged = { written: 0, stale: 0, deleted: 0, rejected: [] };

/** The result of a write. `missing` is the number of records that were deleted because no line has them. */
export function resultOf(lines: number, merged: Merged, missing: number): ImportResult {
  const { written, stale, deleted } = merged;
  const rejected = merged.rejected.toSorted((one, two) => one.line - two.line);
  const unchanged = lines - written - stale - deleted - rejected.length;
  return { written, unchanged, stale, deleted: deleted + missing, rejected };
}

/**
 * Lets either a commit or a signal win:
 *
 *     open -> running -> open    `write` commits; the import goes on with new rows
 *     open -> prevented          `prevent` was called: the next commit fails
 */
export class CommitGate {
  #state: 'open' | 'running' | 'prevented' = 'open';

  requireOpen(): void {
    if (this.#state === 'prevented') {
      throw new StoreUnavailable('The import was stopped before its commit.');
    }
  }

  async pass(commit: () => Promise<void>): Promise<void> {
    this.requireOpen();
    this.#state = 'running';
    try {
      await commit();
    } finally {
      this.#state = 'open';
    }
  }

  /** See `ImportRun`. */
  readonly prevent = (): boolean => {
    if (this.#state !== 'running') this.#state = 'prevented';
    return this.#state === 'prevented';
  };
}

/** Brands and balances are replaced and deleted by SQL. Grants are judged one by one: see consent.ts. */
export type RecordKind = Exclude<ImportKind, 'grants'>;

/** The table of remembered deletions. */
export function deletionsOf(kind: RecordKind): string {
  return `deleted_${kind}`;
}

/** Whether rows of two tables have the same primary key. */
export function sameId(kind: ImportKind, left: string, right: string): string {
  return importColumns[kind].identity.map((column) => `${left}.${column} = ${right}.${column}`).join(' and ');
}

/** Selects whether any deletion or erasure is remembered that could concern a row of this kind. */
export function hasGone(kind: RecordKind): string {
  const tables = kind === 'brands' ? [deletionsOf(kind)] : [deletionsOf(kind), 'erased_customers'];
  // A distributed database would read all rows without the limit.
  const found = tables.map((table) => `exists (select 1 from ${table} limit 1)`);
  return `select ${found.join(' or ')} as has_gone`;
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
