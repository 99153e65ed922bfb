/** The hot statements, one or two a request. Each names its shard key and reads a short piece of an index. */

import { nearestKey } from '../sql/key-row.ts';

/** A hot statement has a name, under which each connection prepares it once. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/**
 * How far into the write-ahead log a snapshot can have seen, as a number. On the primary, nothing visible is
 * beyond the insert position. A standby shows a commit an instant before it counts it as replayed, so while
 * more is at hand than it has replayed, the record that it is at counts as seen, too.
 */
const walPosition = `
  case
    when not pg_is_in_recovery() then pg_current_wal_insert_lsn() - '0/0'
    when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then pg_last_wal_replay_lsn() - '0/0'
    else pg_last_wal_replay_lsn() - '0/0' + 1
  end`;

/** How far the primary is: what it has written for sure. */
export const written: Statement = {
  name: 'written',
  text: `select pg_current_wal_flush_lsn() - '0/0' as position`,
};

/** How far a standby is. Nothing when it has been promoted: then it goes its own way. */
export const replayed: Statement = {
  name: 'replayed',
  text: `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() - '0/0' end as position`,
};

/** Which rows of a table are listed, and in which order. */
interface Listed {
  readonly table: string;
  readonly condition: string;
  /** The rows behind the one with this id. */
  readonly after: (id: string) => string;
  readonly order: string;
}

/** A page joined in the database, and a look one row ahead. */
function pageOf({ table, condition, after, order }: Listed, more: string): string {
  return `
    select ${more}
      page.records,
      octet_length(page.records) as bytes,
      page.last_id,
      (
        select true from ${table} where ${condition} and ${after('page.last_id')} order by ${order} limit 1
      ) as has_more
    from (
      select string_agg(record, ',') as records, max(id) as last_id
      from (
        select id, record from ${table} where ${condition} and ${after('$2')} order by ${order} limit $3
      ) as found
    ) as page`;
}

const byId = { after: (id: string) => `id > ${id}`, order: 'id' };

export const keyByDigest: Statement = { name: 'key_by_digest', text: nearestKey('$1') };

/** $1 partner, $2 after, $3 limit. */
export const brandsPage: Statement = {
  name: 'brands_page',
  text: pageOf(
    { table: 'brands', condition: 'partner_id = $1', ...byId },
    `(${walPosition}) as wal_position,`,
  ),
};

const hash = 'hashtextextended(reference_id, 0)';
const wanted = 'hashtextextended($4, 0)';

/**
 * The same with $4 reference. The index finds its hash, and the row is compared. The hash is named in a range
 * and in the order: were it only equal, a planner that finds the table empty would take the primary key for
 * the order, and its plan would walk all brands of a partner when there are some.
 */
export const brandsPageByReference: Statement = {
  name: 'brands_page_by_reference',
  text: pageOf(
    {
      table: 'brands',
      condition: `partner_id = $1 and ${hash} <= ${wanted} and reference_id = $4`,
      after: (id) => `(${hash}, id) > (${wanted}, ${id})`,
      order: `${hash}, id`,
    },
    `(${walPosition}) as wal_position,`,
  ),
};

const permitColumns = `
      (select standing from permit) as standing,
      (select id from permit) as grant_id,`;

/** The grant and the page it opens in one statement, so that no revocation comes between. */
function balancesUnder(permit: string): string {
  const condition = `customer_id = $1 and type = $4 and (select standing from permit) = 'ACTIVE'`;
  return `
    with permit as (${permit})
    ${pageOf({ table: 'balances', condition, ...byId }, permitColumns)}`;
}

/**
 * $1 customer, $2 after, $3 limit, $4 type, $5 partner, $6 now, $7 grant. The limit keeps the partner out of
 * the search: with it, a planner that has not counted the table may walk all grants that the two have.
 */
export const balancesUnderGrant: Statement = {
  name: 'balances_under_grant',
  text: balancesUnder(`
    select id, case when status = 'ACTIVE' and expires_at <= $6 then 'EXPIRED' else status end as standing
    from (select * from grants where customer_id = $1 and id = $7 limit 1) as named
    where partner_id = $5`),
};

/** The same without $7, under whichever grant is active. */
export const balancesUnderAnyGrant: Statement = {
  name: 'balances_under_any_grant',
  text: balancesUnder(`
    select id, 'ACTIVE' as standing
    from (
      select id, expires_at from grants
      where customer_id = $1 and partner_id = $5 and status = 'ACTIVE'
      order by expires_at desc nulls first limit 1
    ) as longest
    where expires_at is null or expires_at > $6`),
};
