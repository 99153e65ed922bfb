/** The statements of requests. Each names its shard key and reads a short range of an index. */
import { nearestKey } from '../sql/keys.ts';

export interface Statement {
  /** Each connection prepares a named statement once. */
  readonly name?: string;
  readonly text: string;
}

/**
 * The write-ahead log position up to which a page may show commits, as a number. On the primary it is the
 * insert position. A standby shows a commit just before it counts it as replayed: while it has received more
 * than it has replayed, the record that it replays now counts as shown.
 */
const walPosition = `
  case
    when not pg_is_in_recovery() then pg_current_wal_insert_lsn() - '0/0'
    when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then pg_last_wal_replay_lsn() - '0/0'
    else pg_last_wal_replay_lsn() - '0/0' + 1
  end as wal_position,`;

/** The position up to which the primary's log is safely written. */
export const written: Statement = {
  name: 'written',
  text: `select pg_current_wal_flush_lsn() - '0/0' as position`,
};

/** The position that a standby has replayed. Null if it was promoted and no longer follows the primary. */
export const replayed: Statement = {
  name: 'replayed',
  text: `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() - '0/0' end as position`,
};

/** Reads the records of a page as one text, and whether another record follows. */
function pageStatement(
  table: string,
  condition: string,
  columns: string,
  order = 'id',
  after = (id: string) => `id > ${id}`,
): string {
  return `
    select ${columns}
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

export const keyByDigest: Statement = { name: 'key_by_digest', text: nearestKey('$1') };

/** $1 partner, $2 after, $3 limit. */
export const brandsPage: Statement = {
  name: 'brands_page',
  text: pageStatement('brands', 'partner_id = $1', walPosition),
};

const hash = 'hashtextextended(reference_id, 0)';
const wanted = 'hashtextextended($4, 0)';

/**
 * $1 partner, $2 after, $3 limit, $4 reference. The index holds the hash of the reference; the row's own
 * reference is compared too. The hash is in a range and in the order, because with an equality the planner
 * would choose the primary key while the table is empty, and then read all brands of a partner.
 */
export const brandsPageByReference: Statement = {
  name: 'brands_page_by_reference',
  text: pageStatement(
    'brands',
    `partner_id = $1 and ${hash} <= ${wanted} and reference_id = $4`,
    walPosition,
    `${hash}, id`,
    (id) => `(${hash}, id) > (${wanted}, ${id})`,
  ),
};

/** Reads the grant and the page in one statement, so that a revocation cannot happen between them. */
function balancesUnder(permit: string): string {
  const columns = '(select standing from permit) as standing, (select id from permit) as grant_id,';
  const condition = `customer_id = $1 and type = $4 and (select standing from permit) = 'ACTIVE'`;
  return `
    with permit as (${permit})
    ${pageStatement('balances', condition, columns)}`;
}

/**
 * $1 customer, $2 after, $3 limit, $4 type, $5 partner, $6 now, $7 grant. The limit keeps the partner out of
 * the index search: without statistics the planner might read all grants of the customer to the partner.
 */
export const balancesUnderGrant: Statement = {
  name: 'balances_under_grant',
  text: balancesUnder(`
    select id, case when status = 'ACTIVE' and expires_at <= $6 then 'EXPIRED' else status end as standing
    from (select * from grants where customer_id = $1 and id = $7 limit 1) as named
    where partner_id = $5`),
};

/** The same without $7, under the active grant that expires last. */
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
