import type { ImportKind, ImportRow } from '../port.ts';

/** The primary key, the columns that make a row count as changed, and all columns. */
function columns(identity: readonly string[], content: readonly string[]) {
  return { identity, content, all: [...identity, ...content, 'created_at', 'updated_at'] };
}

export const importColumns: Readonly<Record<ImportKind, ReturnType<typeof columns>>> = {
  brands: columns(['partner_id', 'id'], ['name', 'reference_id', 'color', 'profile_image_url', 'metadata']),
  balances: columns(['customer_id', 'id'], ['type', 'currency', 'amount']),
  grants: columns(['customer_id', 'id'], ['partner_id', 'action', 'status', 'expires_at']),
};

/** The columns of a staged grant, all of them text. */
export const grantLineColumns = [...importColumns.grants.all, 'is_timed', 'line'];

/** Brands and balances are replaced and deleted by SQL. Grants are judged one by one: see consent.ts. */
export type RecordKind = Exclude<ImportKind, 'grants'>;

/** The table of remembered deletions. */
export function deletionsOf(kind: RecordKind): string {
  return `deleted_${kind}`;
}

/** How long a deletion is remembered after its import. */
export const deletionDays = 90;

/**
 * Inserts rows, and replaces existing ones where the condition holds, except their creation time. The row's
 * own time decides: an older row is stale.
 */
export function upsert(kind: RecordKind, rows: string, condition: string): string {
  const { identity, content, all } = importColumns[kind];
  const updates = [...content, 'updated_at'].map((column) => `${column} = excluded.${column}`);
  return `
    insert into ${kind} (${all.join(', ')})
    ${rows}
    on conflict (${identity.join(', ')}) do update set ${updates.join(', ')}
    where ${condition}`;
}

/** Whether rows of two tables have the same primary key. */
export function sameId(kind: ImportKind, left: string, right: string): string {
  return importColumns[kind].identity.map((column) => `${left}.${column} = ${right}.${column}`).join(' and ');
}

/**
 * Whether a staged row is not newer than a deletion of the record or the erasure of the customer. Then it
 * must not bring the record back.
 */
export function isGone(kind: ImportKind, row: string): string {
  const deleted =
    kind === 'grants'
      ? []
      : [
          `select 1 from ${deletionsOf(kind)} d
          where ${sameId(kind, 'd', row)} and d.deleted_at >= ${row}.updated_at`,
        ];
  const erased =
    kind === 'brands'
      ? []
      : [
          `select 1 from erased_customers e
          where e.customer_id = ${row}.customer_id and e.erased_at >= ${row}.updated_at`,
        ];
  return `(${[...deleted, ...erased].map((query) => `exists (${query})`).join(' or ')})`;
}

/**
 * Selects whether any deletion or erasure is remembered that could concern a row of this kind. `owned` is a
 * condition for the rows of a table.
 */
export function hasGone(kind: RecordKind, owned: (table: string) => string = () => 'true'): string {
  const tables = kind === 'brands' ? [deletionsOf(kind)] : [deletionsOf(kind), 'erased_customers'];
  // A distributed database would read all rows without the limit.
  const found = tables.map((table) => `exists (select 1 from ${table} where ${owned(table)} limit 1)`);
  return `select ${found.join(' or ')} as has_gone`;
}

/** Selects stored records that were not staged, for brands those of the partners that were. */
export function notStaged(kind: RecordKind): string {
  const ofPartners = kind === 'brands' ? 'partner_id in (select partner_id from staged) and' : '';
  // A subquery, because Citus sends its rows to the nodes. It cannot join a local table with their rows.
  const staged = `(select ${importColumns[kind].identity.join(', ')} from staged)`;
  return `${ofPartners} not exists (select 1 from ${staged} s where ${sameId(kind, 's', kind)})`;
}

/**
 * Counts the records of `notStaged`, and all stored records that it chooses from. `share` is the greatest
 * missing share of a partner, or the share of all balances.
 */
export function countMissing(kind: RecordKind): string {
  const [owner, stored] =
    kind === 'brands'
      ? ['partner_id', 'brands where partner_id in (select partner_id from staged)']
      : [`''`, kind];
  const counted = (rows: string) => `select ${owner} as owner, count(*) as count from ${rows} group by owner`;
  return `
    select coalesce(sum(m.count), 0) as missing, coalesce(sum(s.count), 0) as stored,
      coalesce(max(m.count * 1.0 / s.count), 0) as share
    from (${counted(stored)}) s
    left join (${counted(`${kind} where ${notStaged(kind)}`)}) m on m.owner = s.owner`;
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
