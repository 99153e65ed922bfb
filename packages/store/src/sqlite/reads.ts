import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { storeBounds } from '@partner-network/common/bounds/store';
import { type BalancesAnswer, type Page, type Reads, type Store, StoreUnavailable } from '../port.ts';
import { livingKeys, type StoredCursorKey, selectCursorKeys } from '../sql/cursor-keys.ts';
import { exportQuery } from '../sql/exports.ts';
import { keyOnFile, nearestKey } from '../sql/keys.ts';
import { beginReads, numbered, translated } from './engine.ts';
import { openToInspect } from './file.ts';
import type { FileWatch } from './file-watch.ts';

/** Without the name of the index, SQLite uses the primary key for the order, and scans all of a partner. */
const brandsByReference = pageStatement(
  'brands indexed by brands_by_reference',
  'partner_id = ?3 and reference_id = ?4',
);

const grantById = `
  select id, case when status = 'ACTIVE' and expires_at <= ?3 then 'EXPIRED' else status end as standing
  from grants
  where customer_id = ?1 and partner_id = ?2 and id = ?4`;

/** Without the name of the index, SQLite may choose that for operators, which does not hold the expiry. */
const activeGrant = `
  select id, 'ACTIVE' as standing
  from grants indexed by grants_of_customer
  where customer_id = ?1 and partner_id = ?2 and status = 'ACTIVE'
    and (expires_at is null or expires_at > ?3)
  limit 1`;

/**
 * The statements of requests, prepared once, with numbered parameters and rows as arrays: with names, a page
 * takes a third longer.
 */
export function createReads(db: DatabaseSync, watch?: FileWatch): Reads {
  const prepare = (text: string) => prepareArrays(db, text);
  const keyByDigest = prepare(nearestKey('?1'));
  const brandsPage = prepare(pageStatement('brands', 'partner_id = ?3'));
  const brandsPageByReference = prepare(brandsByReference);
  const balancesPage = prepare(pageStatement('balances', 'customer_id = ?3 and type = ?4'));
  const namedGrant = prepare(grantById);
  const anyActiveGrant = prepare(activeGrant);
  const cursorKeys = db.prepare(selectCursorKeys());
  const ping = prepare('select name from settings limit 1');

  let busyUntilMs = 0;

  /** Waiting for a lock blocks the process, so for `sqliteServeBusyMs` after a timeout reads fail at once. */
  function read<Result>(work: () => Result): Result {
    watch?.require();
    if (performance.now() < busyUntilMs) throw new StoreUnavailable('The embedded database is busy.');
    try {
      beginReads(db);
      return work();
    } catch (error) {
      const failure = translated(error);
      if (failure instanceof StoreUnavailable)
        busyUntilMs = performance.now() + storeBounds.sqliteServeBusyMs;
      throw failure;
    }
  }

  function firstRow(statement: StatementSync, ...values: SQLInputValue[]): SQLOutputValue[] | undefined {
    return read(() => statement.get(...values)) as SQLOutputValue[] | undefined;
  }

  const page = (statement: StatementSync, ...values: SQLInputValue[]) =>
    pageOf(firstRow(statement, ...values)!);

  return {
    findKey: async (digest) => keyOnFile(firstRow(keyByDigest, digest)),

    listBrands: async ({ partnerId, referenceId, after, limit }) =>
      referenceId === undefined
        ? page(brandsPage, after, limit, partnerId)
        : page(brandsPageByReference, after, limit, partnerId, referenceId),

    listBalances: async ({ partnerId, customerId, type, grantId, at, after, limit }) => {
      const row =
        grantId === undefined
          ? firstRow(anyActiveGrant, customerId, partnerId, at)
          : firstRow(namedGrant, customerId, partnerId, at, grantId);
      const [id, standing = 'NOT_FOUND'] = row ?? [];
      const grant = standing as BalancesAnswer['grant'];
      if (grant !== 'ACTIVE') return { grant };
      return { grant, grantId: id as string, page: page(balancesPage, after, limit, customerId, type) };
    },

    cursorKeys: async () =>
      livingKeys(read(() => cursorKeys.all()) as unknown as StoredCursorKey[], Date.now()),

    ping: async () => {
      watch?.requireNow();
      firstRow(ping);
      return [];
    },
  };
}

function prepareArrays(db: DatabaseSync, text: string): StatementSync {
  const statement = db.prepare(text);
  statement.setReturnArrays(true);
  return statement;
}

function pageOf([records, bytes, greatestId]: readonly SQLOutputValue[]): Page {
  if (typeof records !== 'string') return { records: '', bytes: 0, next: undefined };
  const lastId = lastIdIn(records);
  return { records, bytes: bytes as number, next: lastId === greatestId ? undefined : lastId };
}

/**
 * Each record starts with its id, and no text in a record has a quotation mark without a backslash. The
 * maximum of all ids would take SQLite 3 of the 30 µs of a page.
 */
function lastIdIn(records: string): string {
  const start = records.lastIndexOf('},{"id":"') + 1;
  const [id = ''] = /"(?:[^"\\]|\\.)*"/.exec(records.slice(records.indexOf(':', start))) ?? [];
  return JSON.parse(id);
}

/**
 * Joins the records of a page in the database. ?1 is `after`, ?2 is `limit`. The limit is an expression:
 * SQLite plans a statement again for each value of a plain limit parameter, for half the time of a page.
 */
function pageStatement(table: string, condition: string): string {
  return `
    select
      group_concat(record, ',') as records,
      octet_length(group_concat(record, ',')) as bytes,
      (select max(id) from ${table} where ${condition} and id > ?1) as greatest_id
    from (select id, record from ${table} where ${condition} and id > ?1 order by id limit ?2 + 0)`;
}

/**
 * Exports with one statement on its own connection: a statement sees one snapshot for as long as it runs.
 * Meanwhile the write-ahead log only grows; it is merged into the file after the export.
 */
export function createExport(path: string): Store['exportRecords'] {
  return async (selection, write) => {
    const { text, values, recordOf } = exportQuery(selection);
    using db = openToInspect(path, storeBounds.sqliteCommandBusyMs);
    try {
      const statement = prepareArrays(db, text);
      let lines = '';
      for (const row of statement.iterate(numbered(values))) {
        lines += `${recordOf(row as unknown as readonly unknown[])}\n`;
        if (lines.length < storeBounds.exportChunkCharacters) continue;
        await write(lines);
        lines = '';
      }
      if (lines !== '') await write(lines);
    } catch (error) {
      throw translated(error);
    }
  };
}
