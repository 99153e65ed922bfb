import assert from 'node:assert/strict';
import { byTest, createdAt, future, past } from '../../../testkit/fixtures/fixture.ts';
import type { Grant, Store } from '../../src/port.ts';
import {
  brandRow,
  counted,
  grant,
  openWith,
  plainBalance,
  plainBrand,
  type StoreTests,
  writeBatches,
  writeBrands,
  writeRows,
} from './records.ts';

async function brandTexts(store: Store): Promise<string> {
  return (await store.listBrands({ partnerId: 'acme', referenceId: undefined, after: '', limit: 100 }))
    .records;
}

async function balanceTexts(store: Store): Promise<string> {
  const query = { partnerId: 'acme', customerId: 'alice', type: 'CHECKING', grantId: undefined };
  const answer = await store.listBalances({ ...query, at: createdAt, after: '', limit: 100 });
  return 'page' in answer ? answer.page.records : assert.fail(answer.grant);
}

const full = { color: '#000000', profile_image_url: 'https://x.example/', metadata: { a: '1' } };

export const importTests: StoreTests = {
  'staged rows are invisible until they are written': async (open) => {
    const [writer, reader] = [await openWith(open, 'acme'), await open()];
    const run = await writer.beginImport('brands');
    await run.stage([brandRow('acme', plainBrand('a'))]);
    assert.equal(await brandTexts(reader), '');
    await run.stage([brandRow('acme', plainBrand('b'))]);
    assert.equal(await brandTexts(reader), '');
    const called: string[] = [];
    await run.write({ mode: 'keep', onCommit: () => void called.push('commit') });
    await run.end();
    assert.deepEqual(called, ['commit']);
    assert.match(await brandTexts(reader), /"id":"a".*"id":"b"/);
  },

  'a tried import changes nothing, and the next import can begin': async (open) => {
    const [writer, reader] = [await openWith(open, 'acme'), await open()];
    await writeBrands(writer, ['a']);
    const before = await brandTexts(reader);
    const run = await writer.beginImport('brands');
    await run.stage([
      brandRow('acme', plainBrand('a', { name: 'Changed' })),
      brandRow('acme', plainBrand('b')),
    ]);
    const onCommit = () => assert.fail('a trial commits nothing');
    assert.deepEqual(await run.write({ mode: 'try', onCommit }), counted({ written: 2, unchanged: 0 }));
    await run.end();
    assert.equal(await brandTexts(reader), before);
    assert.equal(await brandTexts(writer), before);
    assert.deepEqual(await writeBrands(reader, ['b']), counted({ written: 1, unchanged: 0 }));
  },

  'lets others write while its rows are staged': async (open) => {
    const [importer, other] = [await openWith(open, 'acme'), await open()];
    const run = await importer.beginImport('brands');
    await run.stage([brandRow('acme', plainBrand('a'))]);
    await other.setPartnerDisabled('acme', past, byTest);
    assert.equal((await other.findPartner('acme'))?.disabled_at, past);
    assert.deepEqual(await run.write({ mode: 'keep' }), counted({ written: 1, unchanged: 0 }));
    await run.end();
  },

  'stages and writes repeatedly in one run, and counts rows since the last write': async (open) => {
    const [store, other] = [await openWith(open, 'acme'), await open()];
    const run = await store.beginImport('brands');
    await run.stage(['a', 'b', 'c'].map((id) => brandRow('acme', plainBrand(id))));
    assert.deepEqual(await run.write({ mode: 'keep' }), counted({ written: 3, unchanged: 0 }));
    assert.deepEqual(await run.write({ mode: 'keep' }), counted({ written: 0, unchanged: 0 }));
    // Rows that stayed staged would overwrite this change.
    await writeBrands(other, ['b'], { name: 'Meanwhile' });
    await run.stage(['a', 'd'].map((id) => brandRow('acme', plainBrand(id))));
    assert.deepEqual(await run.write({ mode: 'try' }), counted({ written: 1, unchanged: 1 }));
    assert.deepEqual(await run.write({ mode: 'keep' }), counted({ written: 1, unchanged: 1 }));
    await run.end();
    assert.match(await brandTexts(store), /Meanwhile/);
  },

  'writes rows of a fast import in turn, sorted or not': async (open) => {
    const [store, other] = [await openWith(open, 'acme'), await open()];
    const rows = (names: string, name: string) =>
      [...names].map((id) => brandRow('acme', plainBrand(id, { name })));
    await writeRows(store, 'brands', rows('b', 'Old'));
    const before = await brandTexts(other);
    const batches = ['abc', 'de', 'ca', 'f'].map((given) => rows(given, given));
    for (const mode of ['try', 'keep'] as const) {
      assert.equal(await brandTexts(other), before);
      const result = await writeBatches(store, 'brands', batches, { pace: 'fast' }, { mode });
      assert.deepEqual(result, counted({ written: 6, stale: 2 }));
    }
    const written = JSON.parse(`[${(await brandTexts(other)).replaceAll('\u0001', '')}]`);
    assert.deepEqual(
      written.map(({ id, name }: { id: string; name: string }) => `${id} ${name}`),
      ['a ca', 'b abc', 'c ca', 'd de', 'e de', 'f f'],
    );
  },

  'writes nothing of a fast import when the table rejects a row, and lets others in': async (open) => {
    const [store, other] = [await openWith(open, 'acme'), await open()];
    const run = await store.beginImport('brands', { pace: 'fast' });
    const stageAndWrite = async () => {
      await run.stage([brandRow('acme', plainBrand('a'))]);
      await run.stage([{ ...brandRow('acme', plainBrand('b')), metadata: '{"a":1}' }]);
      await run.stage([brandRow('acme', plainBrand('c'))]);
      await run.write({ mode: 'keep' });
    };
    await assert.rejects(stageAndWrite(), /constraint|metadata/i);
    await run.end();
    await run.end();
    assert.equal(await brandTexts(other), '');
    await writeBrands(other, ['d']);
  },

  'counts a brand that differs only in its times as unchanged, and keeps it': async (open) => {
    const store = await openWith(open, 'acme');
    const rows = [brandRow('acme', plainBrand('a', full)), brandRow('acme', plainBrand('b'))];
    assert.deepEqual(await writeRows(store, 'brands', rows), counted({ written: 2, unchanged: 0 }));
    const before = await brandTexts(store);
    const later = rows.map((row) => ({ ...row, created_at: past, updated_at: future }));
    assert.deepEqual(await writeRows(store, 'brands', later), counted({ written: 0, unchanged: 2 }));
    assert.equal(await brandTexts(store), before);
  },

  'replaces all of a brand except its created_at': async (open) => {
    const store = await openWith(open, 'acme');
    await writeBrands(store, ['a'], full);
    const bare = plainBrand('a', { created_at: past, updated_at: future });
    assert.deepEqual(await writeBrands(store, ['a'], bare), counted({ written: 1, unchanged: 0 }));
    const again = JSON.parse((await brandTexts(store)).replaceAll('\u0001', ''));
    assert.deepEqual(again, {
      ...bare,
      created_at: createdAt,
      profile_image_url: '/assets/brand-placeholder.png',
    });
  },

  'counts a change of any single field, also from and to no value': async (open) => {
    const store = await openWith(open, 'acme');
    const changed = { name: 'Other', reference_id: 'other', ...full };
    const changes = Object.entries(changed).map(([field, value]) => ({ [field]: value }));
    await writeBrands(store, ['a']);
    for (const change of [...changes, { metadata: {} }]) {
      for (const more of [change, {}]) {
        const counts = await writeBrands(store, ['a'], more);
        assert.deepEqual(counts, counted({ written: 1, unchanged: 0 }), JSON.stringify(change));
      }
    }
  },

  'replaces a balance when its amount changes, and only then': async (open) => {
    const store = await openWith(open, 'acme');
    await store.createGrant(grant, byTest);
    const first = plainBalance('alice', 'b', 1);
    const later = { created_at: past, updated_at: future };
    await writeRows(store, 'balances', [first]);
    const same = await writeRows(store, 'balances', [{ ...first, ...later }]);
    assert.deepEqual(same, counted({ written: 0, unchanged: 1 }));
    assert.equal(await balanceTexts(store), JSON.stringify(first));
    const changed = { ...first, amount: -2, ...later };
    assert.deepEqual(await writeRows(store, 'balances', [changed]), counted({ written: 1, unchanged: 0 }));
    assert.equal(await balanceTexts(store), JSON.stringify({ ...changed, created_at: createdAt }));
  },

  'replaces a grant when its status or expiry changes, and only then': async (open) => {
    const store = await openWith(open, 'acme', 'zenith');
    const later = { created_at: past, updated_at: future };
    const changes = [{ status: 'REVOKED' }, { expires_at: future }] as const;
    for (const [index, change] of changes.entries()) {
      const first: Grant = { ...grant, id: `g${index}` };
      await writeRows(store, 'grants', [first]);
      const same = await writeRows(store, 'grants', [{ ...first, ...later }]);
      assert.deepEqual(same, counted({ unchanged: 1 }));
      const changed = { ...first, ...change, ...later };
      assert.deepEqual(await writeRows(store, 'grants', [changed]), counted({ written: 1 }));
      assert.deepEqual(await store.findGrants(first.id), [{ ...changed, created_at: createdAt }]);
    }
  },
};
