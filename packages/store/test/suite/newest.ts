/** Of the lines of a record in one import, the newest counts. Lines that overwrite, and erased customers. */
import assert from 'node:assert/strict';
import { byTest } from '../../../testkit/fixtures/fixture.ts';
import type { ImportRow, Store } from '../../src/port.ts';
import { exported } from './exports.ts';
import {
  brandRow,
  counted,
  grant,
  openWith,
  plainBalance,
  plainBrand,
  type StoreTests,
  writeBatches,
  writeRows,
} from './records.ts';

/** A time on this day of January. */
export function day(number: number): string {
  return `2026-01-${String(number).padStart(2, '0')}T00:00:00.000Z`;
}

/** A line that gives its time. */
export function timed(id: string, amount: number, updatedOn: number): ImportRow {
  return { ...plainBalance('alice', id, amount), updated_at: day(updatedOn), is_timed: 1 };
}

export function deletion(id: string, deletedOn: number): ImportRow {
  return { customer_id: 'alice', id, deleted_at: day(deletedOn) };
}

/** The id, amount and day of each balance. */
export async function stored(store: Store): Promise<string[]> {
  const records = (await exported(store, 'balances')).map((line) => JSON.parse(line));
  return records.map(({ id, amount, updated_at }) => `${id} ${amount} ${Number(updated_at.slice(8, 10))}`);
}

export const recordKinds = ['brands', 'balances'] as const;
export type RecordKind = (typeof recordKinds)[number];

/** Rows and deletions of this many records of one owner, in the order of their ids. */
export function manyRows(count: number) {
  const ids = Array.from({ length: count }, (_, index) => `b${String(index).padStart(5, '0')}`);
  return {
    rowsOf: (kind: RecordKind, owner: string, updatedOn: number, more: ImportRow = {}): ImportRow[] =>
      ids.map((id) => {
        const row = kind === 'brands' ? brandRow(owner, plainBrand(id)) : plainBalance(owner, id);
        return { ...row, created_at: day(1), updated_at: day(updatedOn), is_timed: 1, ...more };
      }),
    deletionsOf: (kind: RecordKind, owner: string, deletedOn: number): ImportRow[] => {
      const key = kind === 'brands' ? 'partner_id' : 'customer_id';
      return ids.map((id) => ({ [key]: owner, id, deleted_at: day(deletedOn) }));
    },
  };
}

export const newestTests: StoreTests = {
  'of the lines of one id the newest counts, however they are cut, and all others are stale': async (
    open,
  ) => {
    const store = await openWith(open, 'acme');
    const lines = [timed('a', 1, 2), timed('b', 1, 1), timed('a', 2, 1), timed('a', 4, 3), timed('a', 3, 3)];
    const ways = [[lines], lines.map((line) => [line]), [lines.slice(0, 2), lines.slice(2)]];
    for (const [index, batches] of ways.entries()) {
      for (const pace of ['fast', 'slow'] as const) {
        // Each time under other ids.
        const named = (row: ImportRow) => ({ ...row, customer_id: `alice ${index} ${pace}` });
        const result = await writeBatches(
          store,
          'balances',
          batches.map((rows) => rows.map(named)),
          { pace },
        );
        assert.deepEqual(result, counted({ written: 2, stale: 3 }), `${index} ${pace}`);
        assert.deepEqual((await stored(store)).splice(-2), ['a 3 3', 'b 1 1']);
        await store.eraseCustomer(`alice ${index} ${pace}`, byTest);
      }
    }
  },

  'a new record has the created_at of the line that counts, a stored one keeps its own': async (open) => {
    const store = await openWith(open, 'acme');
    const created = async () => JSON.parse((await exported(store, 'balances'))[0]!).created_at;
    const lines = [1, 2].map((number) => ({ ...timed('a', number, number + 5), created_at: day(number) }));
    await writeRows(store, 'balances', lines);
    assert.equal(await created(), day(2));
    await writeRows(store, 'balances', [{ ...timed('a', 3, 9), created_at: day(3) }]);
    assert.equal(await created(), day(2));
  },

  'of a deletion and an update with the same time, the deletion counts': async (open) => {
    const store = await openWith(open, 'acme');
    for (const lines of [
      [timed('a', 1, 2), deletion('a', 2)],
      [deletion('b', 2), timed('b', 1, 2)],
    ]) {
      assert.deepEqual(await writeRows(store, 'balances', lines), counted({ unchanged: 1, stale: 1 }));
    }
    assert.deepEqual(await stored(store), []);
  },

  'an import that overwrites replaces newer records, and takes back deletions': async (open) => {
    const store = await openWith(open, 'acme');
    const overwrite = (...rows: ImportRow[]) =>
      writeRows(store, 'balances', rows, { pace: 'fast', overwrites: true });
    await writeRows(
      store,
      'balances',
      ['a', 'b', 'c', 'd'].map((id) => timed(id, 1, 10)),
    );
    await writeRows(store, 'balances', [deletion('e', 10)]);
    const before = Date.now();
    const result = await overwrite(
      timed('a', 2, 5),
      timed('b', 1, 5),
      timed('c', 3, 11),
      deletion('d', 5),
      timed('e', 5, 5),
      timed('f', 6, 5),
    );
    assert.deepEqual(result, counted({ written: 4, unchanged: 1, deleted: 1 }));
    const records = (await exported(store, 'balances')).map((line) => JSON.parse(line));
    const amounts = records.map(({ id, amount }) => `${id} ${amount}`);
    assert.deepEqual(amounts, ['a 2', 'b 1', 'c 3', 'e 5', 'f 6']);
    const isNow = records.map(({ updated_at }) => Date.parse(updated_at) >= before - 1);
    assert.deepEqual(isNow, [true, false, false, true, false]);
    assert.deepEqual(await writeRows(store, 'balances', [timed('d', 1, 10)]), counted({ stale: 1 }));
  },

  'overwriting brings no erased customer back': async (open) => {
    const store = await openWith(open, 'acme');
    await writeRows(store, 'balances', [timed('a', 1, 1)]);
    await store.eraseCustomer('alice', byTest);
    const result = await writeRows(store, 'balances', [timed('a', 1, 1)], { overwrites: true });
    assert.deepEqual(result, counted({ stale: 1 }));
  },

  'a newest line that must not bring its record back leaves the older lines stale': async (open) => {
    const store = await openWith(open, 'acme');
    await writeRows(store, 'balances', [deletion('a', 9)]);
    const lines = [timed('a', 1, 5), deletion('a', 3)];
    assert.deepEqual(await writeRows(store, 'balances', lines), counted({ stale: 2 }));
    await store.eraseCustomer('alice', byTest);
    const ahead = new Date(Date.now() + 60_000).toISOString();
    await writeRows(store, 'balances', [{ ...timed('a', 2, 1), updated_at: ahead }]);
    assert.deepEqual(await writeRows(store, 'balances', lines, { overwrites: true }), counted({ stale: 2 }));
    assert.equal((await stored(store)).length, 1);
  },

  'rejects lines without a time for an erased customer, but takes newer lines and deletions': async (
    open,
  ) => {
    const store = await openWith(open, 'acme');
    await writeRows(store, 'balances', [timed('a', 1, 1), timed('b', 1, 1)]);
    await store.eraseCustomer('alice', byTest);
    const ahead = new Date(Date.now() + 60_000).toISOString();
    const untimed = { ...timed('a', 1, 1), updated_at: ahead, is_timed: 0, line: 3 };
    const lines = [{ ...untimed, customer_id: 'zoe', line: 2 }, untimed, { ...deletion('b', 1), line: 4 }];
    const rejected = [{ line: 3, code: 'CUSTOMER_ERASED' as const, field: 'customer_id' }];
    for (const pace of ['fast', 'slow'] as const) {
      const result = await writeRows(store, 'balances', lines, { pace });
      assert.deepEqual(result, { ...counted({ written: 1, unchanged: 1 }), rejected });
      assert.deepEqual(await stored(store), []);
    }
    const grantLine = { ...grant, updated_at: ahead, is_timed: 0, line: 3 };
    assert.deepEqual(await writeRows(store, 'grants', [grantLine]), { ...counted({}), rejected });
    assert.deepEqual(
      await writeRows(store, 'grants', [{ ...grantLine, is_timed: 1 }]),
      counted({ written: 1 }),
    );
    const ending = { ...grantLine, status: 'REVOKED' };
    assert.deepEqual(await writeRows(store, 'grants', [ending]), counted({ written: 1 }));
    assert.deepEqual(
      await writeRows(store, 'balances', [{ ...untimed, is_timed: 1 }]),
      counted({ written: 1 }),
    );
  },
};
