import assert from 'node:assert/strict';
import { byTest, createdAt, future, past } from '../../../testkit/fixtures/fixture.ts';
import type { ExportSelection, PartnerWithKeys, Store } from '../../src/port.ts';
import {
  brandRow,
  createPartners,
  grant,
  openWith,
  plainBalance,
  plainBrand,
  type StoreTests,
  writeRows,
} from './records.ts';

/** The lines of an export, without line ends. */
export async function exported(
  store: Store,
  kind: ExportSelection['kind'],
  partnerId = '',
): Promise<string[]> {
  let text = '';
  await store.exportRecords({ kind, partnerId }, async (lines) => {
    assert.match(lines, /\n$/);
    text += lines;
  });
  return text.split('\n').slice(0, -1);
}

/** More than one chunk of an export on any engine. */
const many = Array.from({ length: 2_500 }, (_, index) => plainBalance('alice', `b${index + 10_000}`));

const times = `"created_at":"${createdAt}","updated_at":"${createdAt}"`;

const partner: PartnerWithKeys = {
  id: 'acme',
  name: 'Acme "Ünïcode"',
  created_at: createdAt,
  disabled_at: past,
  limits: { brands: 20 },
  keys: [
    {
      id: 'KEY_1',
      name: 'till',
      digest: 'ab'.repeat(32),
      last_four: 'aB3d',
      scopes: ['BALANCES_READ', 'BRANDS_READ'],
      created_at: createdAt,
      expires_at: future,
      revoked_at: past,
    },
    {
      id: 'KEY_2',
      digest: '0c'.repeat(32),
      last_four: '0000',
      scopes: ['BRANDS_READ'],
      created_at: createdAt,
    },
  ],
};
type Key = PartnerWithKeys['keys'][number];
const withoutKeys: PartnerWithKeys = { id: 'zenith', name: 'Zenith', created_at: createdAt, keys: [] };

export const exportTests: StoreTests = {
  'exports records as the API sends them, one per line in the order of ids, without a placeholder image':
    async (open) => {
      const store = await openWith(open, 'acme', 'zenith');
      for (const kind of ['brands', 'balances', 'grants'] as const) {
        assert.deepEqual(await exported(store, kind, 'acme'), []);
      }
      const full = { color: '#00ff00', profile_image_url: 'https://x.example/"', metadata: { a: '\u2028' } };
      await writeRows(store, 'brands', [
        brandRow('acme', plainBrand('b')),
        brandRow('acme', plainBrand('a', full)),
        brandRow('acme', plainBrand('c', { metadata: {} })),
        brandRow('zenith', plainBrand('z')),
      ]);
      const name = `"name":"Name",${times},"reference_id":"ref"`;
      assert.deepEqual(await exported(store, 'brands', 'acme'), [
        `{"id":"a",${name},"color":"#00ff00","profile_image_url":"https://x.example/\\"","metadata":{"a":"\u2028"}}`,
        `{"id":"b",${name}}`,
        `{"id":"c",${name},"metadata":{}}`,
      ]);
      await writeRows(store, 'balances', [plainBalance('zoe', 'a', -5), plainBalance('alice', 'b')]);
      const money = '"type":"CHECKING","currency":"USD","amount"';
      assert.deepEqual(await exported(store, 'balances'), [
        `{"id":"b","customer_id":"alice",${money}:1,${times}}`,
        `{"id":"a","customer_id":"zoe",${money}:-5,${times}}`,
      ]);
      const expiring = { ...grant, id: 'e', status: 'CONSUMED' as const, expires_at: future };
      await writeRows(store, 'grants', [grant, expiring]);
      const whose = '"partner_id":"acme","customer_id":"alice","action":"CHECKING_BALANCE"';
      assert.deepEqual(await exported(store, 'grants'), [
        `{"id":"e",${whose},"status":"CONSUMED","expires_at":"${future}",${times}}`,
        `{"id":"g",${whose},"status":"ACTIVE",${times}}`,
      ]);
    },

  'exports a snapshot: writes during the export are not in it, and do not wait for it': async (open) => {
    const [store, other] = [await open(), await open()];
    await writeRows(store, 'balances', many);
    const before = await exported(store, 'balances');
    assert.equal(before.length, many.length);
    let text = '';
    await store.exportRecords({ kind: 'balances', partnerId: '' }, async (lines) => {
      // Changes rows that were read already and rows still to come, and adds new ones, from both stores.
      const written = [many[0]!, many.at(-1)!, plainBalance('alice', 'a'), plainBalance('zoe', 'z')];
      const rows = written.map((row) => ({ ...row, amount: text.length + 2 }));
      for (const writer of [store, other]) await writeRows(writer, 'balances', rows);
      text += lines;
    });
    assert.deepEqual(text.split('\n').slice(0, -1), before);
    assert.equal((await exported(store, 'balances')).length, before.length + 2);
  },

  'waits for each chunk to be written before it reads on': async (open) => {
    const [store, other] = [await open(), await open()];
    await writeRows(store, 'balances', many);
    let underWay = 0;
    let pieces = 0;
    await store.exportRecords({ kind: 'balances', partnerId: '' }, async () => {
      pieces += 1;
      underWay += 1;
      // This takes long enough for another piece to come.
      assert.equal((await exported(other, 'balances')).length, many.length);
      assert.equal(underWay, 1);
      underWay -= 1;
    });
    assert.ok(pieces > 1);
  },

  'fails with the error of the writer, and can export again': async (open) => {
    const store = await open();
    await writeRows(store, 'balances', many);
    const full = new Error('full');
    const selection = { kind: 'balances', partnerId: '' } as const;
    await assert.rejects(
      store.exportRecords(selection, () => Promise.reject(full)),
      (error) => error === full,
    );
    assert.equal((await exported(store, 'balances')).length, many.length);
    await createPartners(store, 'acme');
  },

  'returns partners and keys as they were written': async (open) => {
    const store = await open();
    await store.writePartnersWithKeys([withoutKeys, partner], byTest, 'keep');
    assert.deepEqual(await store.partnersWithKeys(), [partner, withoutKeys]);
    const key = await store.findKey(Buffer.from(partner.keys[0]!.digest, 'hex'));
    assert.deepEqual([key?.partnerId, key?.isRevoked, key?.isPartnerDisabled], ['acme', true, true]);
  },

  'never enables a partner, changes its limits, or restores or extends a key, from an older file': async (
    open,
  ) => {
    const store = await open();
    await store.writePartnersWithKeys([partner], byTest, 'keep');
    const { disabled_at: _, ...enabled } = partner;
    const { revoked_at: __, expires_at: ___, ...unrevoked } = partner.keys[0]!;
    await store.writePartnersWithKeys(
      [{ ...enabled, name: 'Renamed', limits: { balances: 9 }, keys: [unrevoked] }],
      byTest,
      'keep',
    );
    assert.deepEqual(await store.partnersWithKeys(), [{ ...partner, name: 'Renamed' }]);
  },

  'names the keys of a file whose scopes or later expiry are not applied': async (open) => {
    const store = await open();
    const [first, second] = partner.keys as [Key, Key];
    const write = async (mode: 'keep' | 'try', ...keys: Key[]) =>
      (await store.writePartnersWithKeys([{ ...partner, keys }], byTest, mode)).not_applied;
    const sooner = { ...second, expires_at: future };
    assert.deepEqual(await write('keep', { ...first, scopes: first.scopes.toReversed() }, sooner), []);
    const { expires_at: _, ...endless } = first;
    for (const mode of ['try', 'keep'] as const) {
      assert.deepEqual(await write(mode, endless, sooner), ['KEY_1']);
      assert.deepEqual(await write(mode, first, { ...sooner, scopes: ['BALANCES_READ'] }), ['KEY_2']);
      assert.deepEqual(await write(mode, { ...first, expires_at: past }, second), ['KEY_2']);
    }
  },

  'applies disabling, revocation and an earlier expiry from the file': async (open) => {
    const store = await open();
    const [, valid] = partner.keys;
    const { disabled_at: _, ...enabled } = partner;
    await store.writePartnersWithKeys(
      [{ ...enabled, keys: [{ ...valid!, expires_at: future }] }],
      byTest,
      'keep',
    );
    const later = { ...partner, keys: [{ ...valid!, expires_at: past, revoked_at: past }] };
    await store.writePartnersWithKeys([later], byTest, 'keep');
    assert.deepEqual(await store.partnersWithKeys(), [later]);
  },

  'never moves a key to another partner, and never changes its digest': async (open) => {
    const store = await open();
    await store.writePartnersWithKeys([partner], byTest, 'keep');
    const [key] = partner.keys;
    for (const taken of [
      { ...withoutKeys, keys: [key!] },
      { ...partner, keys: [{ ...key!, digest: 'ff'.repeat(32) }] },
    ]) {
      await assert.rejects(store.writePartnersWithKeys([taken], byTest, 'keep'), /another/);
      assert.deepEqual(await store.partnersWithKeys(), [partner]);
    }
  },

  'writes no partner of a file in which two keys have the same id': async (open) => {
    const store = await open();
    const other = { ...withoutKeys, keys: [{ ...partner.keys[0]!, digest: 'ff'.repeat(32) }] };
    await assert.rejects(store.writePartnersWithKeys([partner, other], byTest, 'keep'), /another/);
    assert.deepEqual(await store.partnersWithKeys(), []);
  },

  'writes no partner when one of the keys exists under another id': async (open) => {
    const store = await open();
    await store.writePartnersWithKeys([partner], byTest, 'keep');
    const clash = { ...withoutKeys, keys: [{ ...partner.keys[1]!, id: 'KEY_3' }] };
    await assert.rejects(
      store.writePartnersWithKeys([{ ...withoutKeys, id: 'b' }, clash], byTest, 'keep'),
      /already exists/,
    );
    assert.deepEqual(await store.partnersWithKeys(), [partner]);
  },
};
