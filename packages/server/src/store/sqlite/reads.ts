import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { bounds } from '../../bounds.ts';
import { livingKeys, type StoredCursorKey, selectCursorKeys } from '../cursor-keys.ts';
import { keyOnFile, nearestKey } from '../key-row.ts';
import { type BalancesAnswer, type Page, type Reads, StoreUnavailable } from '../port.ts';
import { translated } from './engine.ts';

/** The hot statements, prepared once. A page is joined in the database and looks one row ahead. */
export function createReads(db: DatabaseSync): Reads {
  const keyByDigest = db.prepare(nearestKey('$digest'));

  const brandsPage = db.prepare(pageOf('brands', 'partner_id = $partner_id'));

  // Left to itself, SQLite takes the primary key for its order, and walks all brands of a partner.
  const brandsPageByReference = db.prepare(
    pageOf(
      'brands indexed by brands_by_reference',
      'partner_id = $partner_id and reference_id = $reference_id',
    ),
  );

  const balancesPage = db.prepare(pageOf('balances', 'customer_id = $customer_id and type = $type'));

  const namedGrant = db.prepare(`
    select id, case when status = 'ACTIVE' and expires_at <= $at then 'EXPIRED' else status end as standing
    from grants
    where customer_id = $customer_id and id = $grant_id and partner_id = $partner_id`);

  const anyActiveGrant = db.prepare(`
    select id, 'ACTIVE' as standing
    from grants
    where customer_id = $customer_id and partner_id = $partner_id and status = 'ACTIVE'
      and (expires_at is null or expires_at > $at)
    limit 1`);

  const cursorKeys = db.prepare(selectCursorKeys());
  const ping = db.prepare('select name from settings limit 1');

  let busyUntilMs = 0;

  /** Waiting for a lock blocks the process: once one has waited in vain, those after it are told at once. */
  function read<Result>(work: () => Result): Result {
    if (performance.now() < busyUntilMs) throw new StoreUnavailable('The embedded database is busy.');
    try {
      return work();
    } catch (error) {
      const fault = translated(error);
      if (fault instanceof StoreUnavailable) busyUntilMs = performance.now() + bounds.sqliteServeBusyMs;
      throw fault;
    }
  }

  function firstRow(statement: StatementSync, parameters: Record<string, SQLInputValue> = {}) {
    return read(() => statement.get(parameters));
  }

  function page(statement: StatementSync, parameters: Record<string, SQLInputValue>): Page {
    const row = firstRow(statement, parameters);
    return {
      records: (row?.records as string | null) ?? '',
      next: row?.has_more === 1 ? (row.last_id as string) : undefined,
    };
  }

  return {
    findKey: async (digest) => {
      const row = firstRow(keyByDigest, { digest });
      return row === undefined ? undefined : keyOnFile(row);
    },

    listBrands: async ({ partnerId, referenceId, after, limit }) => {
      const range = { partner_id: partnerId, after, limit };
      return referenceId === undefined
        ? page(brandsPage, range)
        : page(brandsPageByReference, { ...range, reference_id: referenceId });
    },

    listBalances: async ({ partnerId, customerId, type, grantId, at, after, limit }) => {
      const whose = { customer_id: customerId, partner_id: partnerId, at };
      const row =
        grantId === undefined
          ? firstRow(anyActiveGrant, whose)
          : firstRow(namedGrant, { ...whose, grant_id: grantId });
      const grant = (row?.standing ?? 'NOT_FOUND') as BalancesAnswer['grant'];
      if (grant !== 'ACTIVE') return { grant };
      const range = { customer_id: customerId, type, after, limit };
      return { grant, grantId: row!.id as string, page: page(balancesPage, range) };
    },

    cursorKeys: async () =>
      livingKeys(read(() => cursorKeys.all()) as unknown as StoredCursorKey[], Date.now()),

    ping: async () => {
      firstRow(ping);
    },
  };
}

function pageOf(table: string, condition: string): string {
  return `
    select
      records,
      last_id,
      exists (select 1 from ${table} where ${condition} and id > last_id) as has_more
    from (
      select group_concat(record, ',') as records, max(id) as last_id
      from (select id, record from ${table} where ${condition} and id > $after order by id limit $limit)
    )`;
}
