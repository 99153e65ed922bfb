import { storeBounds } from '@partner-network/common/bounds/store';
import { note } from '@partner-network/common/observability/span';
import type { BalancesAnswer, Page, Reads, Store } from '../port.ts';
import { livingKeys, type StoredCursorKey, selectCursorKeys } from '../sql/cursor-keys.ts';
import { exportQuery } from '../sql/exports.ts';
import { keyOnFile } from '../sql/keys.ts';
import type { Value } from '../sql/statement.ts';
import type { Pool, ReadPool, Rows } from './connections/pool.ts';
import type { Replicas } from './connections/replicas.ts';
import type { OnNode } from './distribution/slow-nodes.ts';
import {
  balancesUnderAnyGrant,
  balancesUnderGrant,
  brandsPage,
  brandsPageByReference,
  keyByDigest,
  type Statement,
} from './statements.ts';

/** All keys, with the server's time: it decides which of them seals. */
const cursorKeys: Statement = {
  name: 'cursor_keys',
  text: selectCursorKeys(', clock_timestamp() as now'),
};

const onAnyNode: OnNode = (_table, _value, read) => read(() => {});

/** Reads keys, grants and balances from the primary, and brands from a replica if one is current. */
export function createReads(
  primary: ReadPool,
  replicas: Replicas | undefined,
  onNode: OnNode = onAnyNode,
): Omit<Reads, 'ping'> {
  function onPrimary(statement: Statement, values: readonly Value[], begun?: () => void): Promise<Rows> {
    note({ 'partner_network.database.server': 'primary' });
    return primary.query(statement, values, begun);
  }

  return {
    findKey: async (digest) => {
      const [row] = await onPrimary(keyByDigest, [digest]);
      return keyOnFile(row && Object.values(row));
    },

    listBrands: async ({ partnerId, referenceId, after, limit, walPosition = 0n }) => {
      const statement = referenceId === undefined ? brandsPage : brandsPageByReference;
      const values = [partnerId, after, limit, ...(referenceId === undefined ? [] : [referenceId])];
      const rows =
        (await replicas?.query(statement, values, walPosition)) ??
        (await onNode('brands', partnerId, (begun) => onPrimary(statement, values, begun)));
      return { ...pageFrom(rows), walPosition: BigInt(rows[0]!.wal_position as string) };
    },

    listBalances: async ({ partnerId, customerId, type, grantId, at, after, limit }) => {
      const values = [customerId, after, limit, type, partnerId, at];
      const rows = await onNode('balances', customerId, (begun) =>
        grantId === undefined
          ? onPrimary(balancesUnderAnyGrant, values, begun)
          : onPrimary(balancesUnderGrant, [...values, grantId], begun),
      );
      const grant = (rows[0]!.standing ?? 'NOT_FOUND') as BalancesAnswer['grant'];
      return grant === 'ACTIVE'
        ? { grant, grantId: rows[0]!.grant_id as string, page: pageFrom(rows) }
        : { grant };
    },

    cursorKeys: async () => {
      const rows = await primary.query(cursorKeys, []);
      const stored = rows.map(({ now: _now, ...key }) => key as unknown as StoredCursorKey);
      return livingKeys(stored, Date.parse(rows[0]?.now as string));
    },
  };
}

function pageFrom(rows: Rows): Page {
  const { records, bytes, has_more, last_id } = rows[0]!;
  return {
    records: (records as string | null) ?? '',
    bytes: (bytes as number | null) ?? 0,
    next: has_more === true ? (last_id as string) : undefined,
  };
}

/** Removes the timeouts, because the reader may be slow, and plans for reading all rows. */
const settings = `
  set transaction isolation level repeatable read, read only;
  set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0;
  set local cursor_tuple_fraction = 1`;

/** Reads through a cursor on the server: batch by batch, and all from one snapshot. */
export function createExport(pool: Pool): Store['exportRecords'] {
  return async (selection, write) => {
    const { text, values, recordOf } = exportQuery(selection);
    const { exportBatchBrands, exportBatchRecords } = storeBounds;
    const size = selection.kind === 'brands' ? exportBatchBrands : exportBatchRecords;
    const fetch = { text: `fetch ${size} from exported`, rowMode: 'array' as const };
    const failure = await pool.inTransaction(async (client) => {
      await client.query(settings);
      await client.query(`declare exported no scroll cursor for ${text}`, values);
      for (;;) {
        const { rows } = await client.query<unknown[]>(fetch);
        if (rows.length === 0) return undefined;
        try {
          await write(rows.map((row) => `${recordOf(row)}\n`).join(''));
        } catch (error) {
          // An error of the reader: it passes unchanged, and the connection stays usable.
          return { error };
        }
      }
    });
    if (failure !== undefined) throw failure.error;
  };
}
