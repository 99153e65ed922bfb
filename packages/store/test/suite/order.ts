/** Lines that arrive late, twice or out of order, and deletions. */
import assert from 'node:assert/strict';
import { byTest } from '../../../testkit/fixtures/fixture.ts';
import type { ImportBegin, ImportRow } from '../../src/port.ts';
import { day, deletion, stored, timed } from './newest.ts';
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

/** Every way in which an engine writes: rows in order or not, from a file or a feed. */
const ways: readonly {
  readonly name: string;
  readonly options: ImportBegin;
  readonly isReversed: boolean;
  /** All rows at once: the embedded database then writes without a thread. */
  readonly isOneBatch?: boolean;
}[] = [
  { name: 'a small file', options: { pace: 'fast' }, isReversed: false, isOneBatch: true },
  { name: 'a feed', options: {}, isReversed: false },
  { name: 'a file in order', options: { pace: 'fast' }, isReversed: false },
  { name: 'a file out of order', options: { pace: 'fast' }, isReversed: true },
];

const wayTests = ways.map(({ name, options, isReversed, isOneBatch }): [string, StoreTests[string]] => [
  `${name} does not replace newer records, and takes newer times`,
  async (open) => {
    const store = await openWith(open, 'acme');
    const write = (rows: readonly ImportRow[]) => {
      const ordered = isReversed ? rows.toReversed() : rows;
      return writeBatches(store, 'balances', isOneBatch ? [rows] : ordered.map((row) => [row]), options);
    };
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    await write(ids.map((id) => timed(id, 1, 10)));
    const result = await write([
      timed('a', 2, 9),
      timed('b', 2, 10),
      timed('c', 1, 10),
      timed('d', 1, 11),
      { ...plainBalance('alice', 'e'), updated_at: day(20), is_timed: 0 },
      { ...plainBalance('alice', 'f', 2), updated_at: day(20), is_timed: 0 },
    ]);
    assert.deepEqual(result, counted({ written: 3, unchanged: 2, stale: 1 }));
    assert.deepEqual(await stored(store), ['a 1 10', 'b 2 10', 'c 1 10', 'd 1 11', 'e 1 10', 'f 2 20']);
  },
]);

export const orderTests: StoreTests = {
  ...Object.fromEntries(wayTests),

  'a deletion removes a record that is not newer, and late updates do not bring it back': async (open) => {
    const store = await openWith(open, 'acme');
    const write = (...rows: ImportRow[]) => writeRows(store, 'balances', rows);
    await write(timed('a', 1, 10), timed('b', 1, 10), timed('c', 1, 10));
    assert.deepEqual(
      await write(deletion('a', 10), deletion('b', 9), deletion('x', 10)),
      counted({ deleted: 1, stale: 1, unchanged: 1 }),
    );
    assert.deepEqual(await stored(store), ['b 1 10', 'c 1 10']);
    assert.deepEqual(await write(timed('a', 2, 10), timed('x', 2, 9)), counted({ stale: 2 }));
    assert.deepEqual(await write(timed('x', 2, 9), deletion('y', 1)), counted({ stale: 1, unchanged: 1 }));
    assert.deepEqual(await write(deletion('a', 10)), counted({ unchanged: 1 }));
    assert.deepEqual(await write(timed('a', 2, 11)), counted({ written: 1 }));
    assert.deepEqual(await stored(store), ['a 2 11', 'b 1 10', 'c 1 10']);
    assert.deepEqual(await write(deletion('a', 10)), counted({ stale: 1 }));
  },

  'a remembered deletion also holds back a fast import': async (open) => {
    const store = await openWith(open, 'acme');
    await writeRows(store, 'balances', [deletion('b', 10)]);
    for (const [batches, updatedOn] of [
      [['a', 'b', 'c'], 5],
      [['abc'], 6],
    ] as const) {
      const run = await store.beginImport('balances', { pace: 'fast' });
      for (const ids of batches) await run.stage([...ids].map((id) => timed(id, 1, updatedOn)));
      assert.deepEqual(await run.write({ mode: 'keep' }), counted({ written: 2, stale: 1 }));
      await run.end();
      assert.deepEqual(await stored(store), [`a 1 ${updatedOn}`, `c 1 ${updatedOn}`]);
    }
  },

  'takes the newer time of a grant, again and again in one run': async (open) => {
    const store = await openWith(open, 'acme');
    const run = await store.beginImport('grants');
    for (const updatedOn of [2, 3, 4]) {
      await run.stage([{ ...grant, updated_at: day(updatedOn), is_timed: 1 }]);
      assert.deepEqual(await run.write({ mode: 'keep' }), counted({ written: 1 }));
    }
    await run.end();
    assert.deepEqual(await store.findGrants(grant.id), [{ ...grant, updated_at: day(4) }]);
  },

  'a small file may begin with a deletion': async (open) => {
    const store = await openWith(open, 'acme');
    await writeRows(store, 'balances', [timed('a', 1, 1)]);
    const run = await store.beginImport('balances', { pace: 'fast' });
    await run.stage([deletion('a', 2), timed('b', 1, 1)]);
    assert.deepEqual(await run.write({ mode: 'keep' }), counted({ deleted: 1, written: 1 }));
    await run.end();
    assert.deepEqual(await stored(store), ['b 1 1']);
  },

  'of deletions and updates of one id the newest counts': async (open) => {
    const store = await openWith(open, 'acme');
    const write = (...rows: ImportRow[]) => writeRows(store, 'balances', rows);
    const created = await write(timed('a', 1, 1), deletion('a', 2), timed('b', 1, 1));
    assert.deepEqual(created, counted({ written: 1, unchanged: 1, stale: 1 }));
    const revived = await write(deletion('a', 3), timed('a', 2, 4), timed('a', 3, 3), timed('b', 2, 2));
    assert.deepEqual(revived, counted({ written: 2, stale: 2 }));
    assert.deepEqual(await stored(store), ['a 2 4', 'b 2 2']);
  },

  'deletes brands of one partner only': async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    const both = ['acme', 'zenith'].map((id) => brandRow(id, plainBrand('a')));
    await writeRows(store, 'brands', both);
    const line = { partner_id: 'acme', id: 'a', deleted_at: day(9) };
    assert.deepEqual(await writeRows(store, 'brands', [line]), counted({ deleted: 1 }));
    const page = (partnerId: string) =>
      store.listBrands({ partnerId, referenceId: undefined, after: '', limit: 9 });
    assert.equal((await page('acme')).records, '');
    assert.match((await page('zenith')).records, /"id":"a"/);
    assert.deepEqual(await writeRows(store, 'brands', [both[0]!]), counted({ stale: 1 }));
  },

  'a trial of deletions changes nothing': async (open) => {
    const store = await openWith(open, 'acme');
    await writeRows(store, 'balances', [timed('a', 1, 1)]);
    const run = await store.beginImport('balances');
    await run.stage([deletion('a', 2), timed('b', 1, 1)]);
    assert.deepEqual(await run.write({ mode: 'try' }), counted({ deleted: 1, written: 1 }));
    await run.end();
    assert.deepEqual(await stored(store), ['a 1 1']);
    assert.deepEqual(await writeRows(store, 'balances', [timed('a', 2, 2)]), counted({ written: 1 }));
  },

  'deletes what was not staged, of the partners that were, and nothing newer than the import': async (
    open,
  ) => {
    const store = await openWith(open, 'acme', 'zenith');
    const ahead = new Date(Date.now() + 60_000).toISOString();
    const brand = (partner: string, id: string, updated_at = day(1)) =>
      brandRow(partner, plainBrand(id, { updated_at }));
    const kept = [brand('acme', 'a'), brand('acme', 'b'), brand('zenith', 'z')];
    await writeRows(store, 'brands', [...kept, brand('acme', 'c'), brand('acme', 'new', ahead)]);
    const run = await store.beginImport('brands', { pace: 'fast', deletesMissing: true });
    await run.stage([brand('acme', 'a'), brand('acme', 'd')]);
    assert.deepEqual(await run.countMissing(), { missing: 3, stored: 4, share: 0.75 });
    for (const mode of ['try', 'keep'] as const) {
      const result = await run.write({ mode });
      assert.deepEqual(result, counted({ written: 1, unchanged: 1, deleted: 2 }));
    }
    await run.end();
    const { records } = await store.listBrands({
      partnerId: 'acme',
      referenceId: undefined,
      after: '',
      limit: 9,
    });
    assert.deepEqual(records.match(/"id":"\w+"/g), ['"id":"a"', '"id":"d"', '"id":"new"']);
    const late = await writeRows(store, 'brands', [brand('acme', 'c')]);
    assert.deepEqual(late, counted({ stale: 1 }));
  },

  'counts which share is missing of the partner that would lose the most': async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    const brands = (partner: string, count: number) =>
      Array.from({ length: count }, (_, index) => brandRow(partner, plainBrand(`b${index}`)));
    await writeRows(store, 'brands', [...brands('acme', 12), ...brands('zenith', 4)]);
    const run = await store.beginImport('brands', { pace: 'fast', deletesMissing: true });
    await run.stage([...brands('acme', 12), ...brands('zenith', 1)]);
    assert.deepEqual(await run.countMissing(), { missing: 3, stored: 16, share: 0.75 });
    await run.end();
  },

  'an import that began before a revocation and commits after it does not undo it': async (open) => {
    const [importer, operator] = [await openWith(open, 'acme'), await open()];
    await importer.createGrant(grant, byTest);
    const run = await importer.beginImport('grants', { pace: 'fast' });
    await run.stage([
      { ...grant, updated_at: new Date(Date.now() + 60_000).toISOString(), is_timed: 1, line: 1 },
    ]);
    await operator.revokeGrant('alice', 'g', day(9), byTest);
    assert.deepEqual(await run.write({ mode: 'keep' }), counted({ stale: 1 }));
    await run.end();
    assert.equal((await operator.findGrants('g'))[0]?.status, 'REVOKED');
  },

  'rejects lines of grants by their number, and writes nothing unless the others may be written': async (
    open,
  ) => {
    const store = await openWith(open, 'acme', 'zenith');
    await writeRows(store, 'grants', [{ ...grant, expires_at: day(20) }]);
    const lines = [
      { ...grant, partner_id: 'zenith', line: 3 },
      { ...grant, partner_id: 'zenith', status: 'REVOKED', line: 4 },
      { ...grant, expires_at: day(21), line: 5 },
      { ...grant, expires_at: '', line: 7 },
      { ...grant, id: 'h', line: 8 },
    ];
    const rejected = [
      { line: 3, field: 'partner_id' },
      { line: 4, field: 'partner_id' },
      { line: 5, field: 'expires_at' },
      { line: 7, field: 'expires_at' },
    ].map((refused) => ({ ...refused, code: 'IMMUTABLE_FIELD' as const }));
    for (const skipsRejected of [false, true]) {
      const run = await store.beginImport('grants', { pace: 'fast' });
      await run.stage(lines.map((line) => ({ ...line, is_timed: 1 })));
      const result = await run.write({ mode: 'keep', skipsRejected });
      await run.end();
      assert.deepEqual(result, { ...counted({ written: 1 }), rejected });
      assert.equal((await store.findGrants('h')).length, skipsRejected ? 1 : 0);
      assert.equal((await store.findGrants('g'))[0]?.status, 'ACTIVE');
    }
  },
};
