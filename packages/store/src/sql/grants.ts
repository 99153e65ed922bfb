/** Grants, and the erasure of a customer, in SQL that both engines understand. */
import { latestTimeMs, toTime } from '@partner-network/common/times';
import type { Erasure, Grant, Grants, GrantsQuery } from '../port.ts';
import { changeRow, changeStatement } from './audit.ts';
import type { BoundStatement, Differences, Row, Sql } from './statement.ts';
import { createConditions, insert, records, withoutNulls } from './statement.ts';

export const grantColumns = 'id, partner_id, customer_id, action, status, expires_at, created_at, updated_at';

const selectGrants = `select ${grantColumns} from grants`;

/** The time never moves back: an import may have brought a newer one. */
const revoke = `
  update grants set status = 'REVOKED', updated_at = case when updated_at > $1 then updated_at else $1 end
  where status = 'ACTIVE' and customer_id = $2`;

const remember = `
  insert into erased_customers (customer_id, erased_at) values ($1, $2)
  on conflict (customer_id) do update set erased_at = excluded.erased_at
  where erased_customers.erased_at < excluded.erased_at
  returning customer_id`;

/** An id has at most 256 characters, or 1 KiB. */
const grantsOfEntry = 50;

export function createGrants(sql: Sql, { locks }: Differences): Grants {
  const { rows, transaction } = sql;

  return {
    createGrant: (grant, by) =>
      transaction(function* () {
        for (const lock of locks.createGrant) yield [lock];
        yield insert('grants', grantColumns, grant);
        const { partner_id, customer_id, expires_at } = grant;
        yield changeStatement(by, grant.id, { partner_id, customer_id, expires_at });
      }),

    // The expression of the index grants_by_id.
    findGrants: (id) => records<Grant>(rows, `${selectGrants} where id || '' = $1 order by customer_id`, id),

    listGrants: (query) => records<Grant>(rows, ...selectionOf(query)),

    revokeGrant: (customerId, id, at, by) =>
      changeRow(sql, [`${revoke} and id = $3 returning partner_id`, at, customerId, id], ({ partner_id }) =>
        changeStatement(by, id, { partner_id, customer_id: customerId }),
      ),

    revokeGrants: (customerId, at, by) =>
      transaction(function* () {
        const revoked = yield [`${revoke} returning ${grantColumns}`, at, customerId];
        const grants = revoked.map(withoutNulls) as unknown as Grant[];
        const ids = grants.map(({ id }) => id);
        // Several entries: the size of one is limited.
        for (let start = 0; start < ids.length; start += grantsOfEntry) {
          yield changeStatement(by, customerId, { grants: ids.slice(start, start + grantsOfEntry) });
        }
        return grants.toSorted((one, other) => (one.id < other.id ? -1 : 1));
      }),

    eraseCustomer: (customerId, by) =>
      transaction(function* () {
        for (const lock of locks.eraseCustomer) yield [lock];
        const { times, ...counts } = yield* deletion(customerId);
        if (times.length === 0) return undefined;
        // Not before the newest record: it may be ahead of this clock, and must not come back.
        const erasedAt = [toTime(Date.now()), ...times].toSorted().at(-1)!;
        yield [remember, customerId, erasedAt];
        yield changeStatement(by, customerId, counts);
        return counts;
      }),

    isErased: async (customerId) => {
      const text = 'select 1 as is_erased from erased_customers where customer_id = $1';
      return (await rows(text, customerId)).length > 0;
    },

    importErasures: (customers, by) =>
      transaction(function* () {
        for (const lock of locks.eraseCustomer) yield [lock];
        const total = { erased: 0, balances: 0, grants: 0 };
        for (const { customer_id, erased_at } of customers) {
          const { times, balances, grants } = yield* deletion(customer_id, erased_at);
          const remembered = yield [remember, customer_id, erased_at];
          if (times.length + remembered.length > 0) total.erased += 1;
          total.balances += balances;
          total.grants += grants;
        }
        if (total.erased > 0) yield changeStatement(by, 'customers', total);
        return total;
      }),
  };
}

function selectionOf(query: GrantsQuery): BoundStatement {
  const { partnerId, customerId, grantId, status, at, after, limit } = query;
  const { values, add, addEqual, text, parameter } = createConditions();
  // A customer has few grants, a partner may have millions.
  addEqual({ customer_id: customerId, partner_id: partnerId });
  const isExpired = () => `(status = 'ACTIVE' and expires_at <= ${parameter(at)})`;
  add(status, (value) => {
    if (status === 'EXPIRED') return `(status = ${value} or ${isExpired()})`;
    return status === 'ACTIVE'
      ? `status = ${value} and not coalesce(${isExpired()}, false)`
      : `status = ${value}`;
  });
  add(grantId, (value) => `id = ${value}`);
  add(after?.customer_id, (value) => `(customer_id, id) > (${value}, ${parameter(after!.id)})`);
  const end = limit === undefined ? '' : `limit ${parameter(limit)}`;
  return [`${selectGrants} where ${text()} order by customer_id, id ${end}`, ...values];
}

/**
 * Deletes the records and remembered deletions of a customer that are not newer than `until`. Returns the
 * numbers of records, and the times of everything deleted.
 */
function* deletion(
  customerId: string,
  until = toTime(latestTimeMs),
): Generator<BoundStatement, Erasure & { readonly times: readonly string[] }, readonly Row[]> {
  const gone = (table: string, time: string): BoundStatement => {
    const text = `delete from ${table} where customer_id = $1 and ${time} <= $2 returning ${time} as at`;
    return [text, customerId, until];
  };
  const balances = yield gone('balances', 'updated_at');
  const grants = yield gone('grants', 'updated_at');
  const deletions = yield gone('deleted_balances', 'deleted_at');
  const times = [...balances, ...grants, ...deletions].map(({ at }) => at as string);
  return { balances: balances.length, grants: grants.length, times };
}
