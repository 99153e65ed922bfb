/** Consent only shrinks: decides what a line of an import does to a grant. A trigger enforces the same. */
import type { Grant, RefusedLine } from '../port.ts';
import { importColumns, sameId } from './imports.ts';
import type { Dialect } from './record-statements.ts';
import type { Row } from './statement.ts';

/** A stored grant without its key. */
export type StoredGrant = Omit<Grant, 'customer_id' | 'id'>;

/** A staged line. An absent status or expiry keeps the stored one, an empty expiry stands for null. */
export interface GrantLine extends Omit<StoredGrant, 'status'> {
  readonly status?: Grant['status'];
  readonly isTimed: boolean;
}

export type Verdict =
  | { readonly outcome: 'written'; readonly grant: StoredGrant }
  | { readonly outcome: 'unchanged' | 'stale' }
  | ({ readonly outcome: 'rejected' } & Omit<RefusedLine, 'line'>);

const stale: Verdict = { outcome: 'stale' };

/** Why a line without a time is rejected. */
const customerErased = { code: 'CUSTOMER_ERASED', field: 'customer_id' } as const;

/** Rejects the lines of these rows. */
export function rejectErased(rows: readonly Row[]): RefusedLine[] {
  return rows.map(({ line }) => ({ line: Number(line), ...customerErased }));
}

/**
 * The states of a grant:
 *
 *     none   --any line--> active or final
 *     active --newer line--> active with the line's time and an earlier expiry
 *     active --final line, whatever its time--> final
 *     final  --final line with an earlier time--> final
 *
 * A line that names another partner is rejected before its time and status are read: it is about another
 * grant, and must not end this one. Every other line is stale, or unchanged if it says what is stored. So of
 * several final lines the first by time decides, in any order of arrival.
 *
 * `erasedAt` is when the customer was erased, if ever. A line that is not newer brings no grant back. A line
 * without a time does not say whether it is newer, so it can only end a stored grant.
 */
export function judge(stored: StoredGrant | undefined, line: GrantLine, erasedAt?: string): Verdict {
  const isFinal = line.status !== undefined && line.status !== 'ACTIVE';
  if (stored !== undefined && line.partner_id !== stored.partner_id) return immutable('partner_id');
  if (erasedAt !== undefined && !line.isTimed && !(isFinal && stored !== undefined)) {
    return { outcome: 'rejected', ...customerErased };
  }
  if (stored === undefined) {
    if (erasedAt !== undefined && erasedAt >= line.updated_at) return stale;
    const { isTimed: _, expires_at, ...grant } = line;
    return written({ ...grant, status: line.status ?? 'ACTIVE' }, expires_at || undefined);
  }
  const isOlder = line.updated_at < stored.updated_at;
  const expiresAt = line.expires_at === undefined ? stored.expires_at : line.expires_at || undefined;
  if (isFinal && (stored.status === 'ACTIVE' || isOlder)) {
    const updated_at = line.updated_at < stored.created_at ? stored.created_at : line.updated_at;
    const isLater = isAfter(expiresAt, stored.expires_at);
    return written({ ...stored, status: line.status, updated_at }, isLater ? stored.expires_at : expiresAt);
  }
  const isSame = (line.status ?? stored.status) === stored.status && expiresAt === stored.expires_at;
  if (isOlder) return stale;
  if (stored.status !== 'ACTIVE') return isSame ? { outcome: 'unchanged' } : stale;

  if (isAfter(expiresAt, stored.expires_at)) return immutable('expires_at');
  if (isSame && !(line.isTimed && line.updated_at > stored.updated_at)) return { outcome: 'unchanged' };
  return written({ ...stored, updated_at: line.updated_at }, expiresAt);
}

function immutable(field: 'partner_id' | 'expires_at'): Verdict {
  return { outcome: 'rejected', code: 'IMMUTABLE_FIELD', field };
}

/** A grant without an expiry ends after all others. */
function isAfter(expiresAt: string | undefined, stored: string | undefined): boolean {
  return stored !== undefined && (expiresAt === undefined || expiresAt > stored);
}

function written(grant: Omit<StoredGrant, 'expires_at'>, expiresAt: string | undefined): Verdict {
  const { expires_at: _, ...rest } = grant as StoredGrant;
  return { outcome: 'written', grant: expiresAt === undefined ? rest : { ...rest, expires_at: expiresAt } };
}

/** The columns of a grant besides its key. */
const columns = importColumns.grants.all.slice(importColumns.grants.identity.length);

/** Selects all staged lines of grants with what is stored, in the order of the table. */
export function selectCompared({ joined, readable }: Pick<Dialect, 'joined' | 'readable'>): string {
  return `
    select n.*, e.erased_at, ${columns.map((column) => `g.${column} as stored_${column}`).join(', ')}
    from staged n
    ${joined(readable('grants'), 'g', sameId('grants', 'g', 'n'))}
    ${joined(readable('erased_customers'), 'e', 'e.customer_id = n.customer_id')}
    order by n.customer_id, n.id, n.line`;
}

/** Judges the rows of `selectCompared` one after the other, and counts what they do. */
export function createGrantJudge() {
  const rejected: RefusedLine[] = [];
  const merged = { written: 0, stale: 0, deleted: 0, rejected };
  /** The last grant, as the lines so far have changed it. */
  let last: { readonly id: string; grant: StoredGrant | undefined } = { id: '', grant: undefined };

  /** Returns the grant that the line writes, with its key. */
  function judgeRow(row: Row): Grant | undefined {
    const { customer_id, id } = row as unknown as Grant;
    const key = JSON.stringify([customer_id, id]);
    if (last.id !== key) last = { id: key, grant: storedOf(row) };
    const erasedAt = (row.erased_at ?? undefined) as string | undefined;
    const verdict = judge(last.grant, lineOf(row), erasedAt);
    if (verdict.outcome === 'stale') merged.stale += 1;
    if (verdict.outcome === 'rejected') {
      rejected.push({ line: Number(row.line), code: verdict.code, field: verdict.field });
    }
    if (verdict.outcome !== 'written') return undefined;
    merged.written += 1;
    last.grant = verdict.grant;
    return { customer_id, id, ...verdict.grant };
  }

  return { merged, judge: judgeRow };
}

function storedOf(row: Row): StoredGrant | undefined {
  if (row.stored_created_at === null) return undefined;
  const stored = columns.map((column) => [column, row[`stored_${column}`] ?? undefined]);
  return Object.fromEntries(stored) as unknown as StoredGrant;
}

function lineOf(row: Row): GrantLine {
  const line = columns.map((column) => [column, row[column] ?? undefined]);
  return { ...Object.fromEntries(line), isTimed: Number(row.is_timed) === 1 } as GrantLine;
}
