import assert from 'node:assert/strict';
import { byTest, createdAt, future, past } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import type { Author, NumberedEntry, Store } from '../../src/port.ts';
import { exported } from './exports.ts';
import { receiptAt } from './receipts.ts';
import { createPartners, grant, openWith, plainBalance, type StoreTests, writeRows } from './records.ts';

const key = {
  id: 'k',
  partner_id: 'acme',
  name: 'eve@example.com',
  last_four: 'abcd',
  created_at: createdAt,
};
const digest = (fill: number) => new Uint8Array(32).fill(fill);
const { partner_id: _, ...adminKey } = { ...key, id: 'a', role: 'ADMIN' as const };
const replacement = { id: 'k2', last_four: 'wxyz', digest: digest(2), overlapMs: 0 };

/** Each change, its target, and some of its details. */
const changes: readonly [(store: Store, by: Author) => Promise<unknown>, target: string, details: object][] =
  [
    [(store, by) => store.createPartner({ id: 'acme', name: 'A', created_at: createdAt }, by), 'acme', {}],
    [(store, by) => store.setPartnerDisabled('acme', past, by), 'acme', {}],
    [(store, by) => store.setPartnerDisabled('acme', undefined, by), 'acme', {}],
    [(store, by) => store.renamePartner('acme', 'A', 'B', by), 'acme', {}],
    [(store, by) => store.limitPartner('acme', { brands: 20 }, by), 'acme', { from: {}, to: { brands: 20 } }],
    [
      (store, by) => store.createKey({ ...key, scopes: ['BRANDS_READ'], expires_at: future }, digest(1), by),
      'k',
      { partner_id: 'acme', scopes: ['BRANDS_READ'], expires_at: future },
    ],
    [(store, by) => store.rotateKey('k', replacement, by), 'k', { new_key_id: 'k2', partner_id: 'acme' }],
    [(store, by) => store.revokeKey('k2', past, by), 'k2', { partner_id: 'acme' }],
    [
      (store, by) => store.createAdminKey({ ...adminKey, expires_at: future }, digest(1), by),
      'a',
      { role: 'ADMIN', expires_at: future },
    ],
    [
      (store, by) => store.rotateAdminKey('a', { ...replacement, id: 'a2' }, by),
      'a',
      { new_key_id: 'a2', role: 'ADMIN' },
    ],
    [(store, by) => store.revokeAdminKey('a2', past, by), 'a2', { role: 'ADMIN' }],
    [(store, by) => store.createGrant(grant, by), 'g', { partner_id: 'acme', customer_id: 'alice' }],
    [(store, by) => store.revokeGrant('alice', 'g', past, by), 'g', { customer_id: 'alice' }],
    [
      async (store, by) => {
        await store.createGrant({ ...grant, id: 'h' }, byTest);
        await store.revokeGrants('alice', past, by);
      },
      'alice',
      { grants: ['h'] },
    ],
    [(store, by) => store.eraseCustomer('alice', by), 'alice', { balances: 0, grants: 2 }],
    [
      (store, by) => store.importErasures([{ customer_id: 'never seen', erased_at: past }], by),
      'customers',
      { erased: 1, balances: 0, grants: 0 },
    ],
    [(store, by) => store.rotateCursorKey('discard', by), 'cursor keys', { discarded: [0] }],
    [
      async (store, by) => {
        await store.recordReceipts([receiptAt(0)]);
        await store.prune('receipts', future, by);
      },
      'receipts',
      { before: future, receipts: 1 },
    ],
    [
      (store, by) =>
        store.writePartnersWithKeys([{ id: 'z', name: 'Z', created_at: createdAt, keys: [] }], by, 'keep'),
      'partners',
      { created: { partners: 1, keys: 0 }, changed: { partners: 0, keys: 0 } },
    ],
  ];

export const auditTests: StoreTests = {
  'writes an audit entry for each change': async (open) => {
    const [store, other] = [await open(), await open()];
    for (const [index, [change, target, details]] of changes.entries()) {
      const by = { actor: `eve 🦊 ${index}`, action: 'keys create', details: { why: '"é"' } } as const;
      const before = new Date().toISOString();
      await change(store, by);
      const entries = await other.listAudit({ actor: by.actor, limit: 10 });
      assert.equal(entries.length, 1, `${by.actor}: ${target}`);
      const { seq, at, ...entry } = entries[0]!;
      assert.partialDeepStrictEqual(entry, { actor: by.actor, action: by.action, target, details });
      assert.equal(entry.details.why, '"é"');
      assert.ok(Number.isInteger(seq) && at >= before && at <= new Date().toISOString());
      assert.doesNotMatch(JSON.stringify(entry), /eve@|abcd|wxyz|digest|amount/);
    }
  },

  'writes no entry for a change that changes nothing, or that fails': async (open) => {
    const store = await openWith(open, 'acme');
    await store.createKey({ ...key, scopes: ['BRANDS_READ'], revoked_at: past }, digest(1), byTest);
    await store.createAdminKey({ ...adminKey, revoked_at: past }, digest(1), byTest);
    await store.createGrant({ ...grant, status: 'REVOKED' }, byTest);
    const { id, name, created_at } = (await store.findPartner('acme'))!;
    const by = { actor: 'eve', action: 'sandbox' } as const;
    await store.setPartnerDisabled('acme', undefined, by);
    await store.renamePartner('acme', 'Other', 'B', by);
    await store.renamePartner('acme', name, name, by);
    await store.revokeKey('k', future, by);
    await store.rotateKey('k', replacement, by);
    await store.revokeAdminKey('a', future, by);
    await store.rotateAdminKey('a', replacement, by);
    await store.revokeGrant('alice', 'g', future, by);
    await store.revokeGrants('alice', future, by);
    await store.eraseCustomer('nobody', by);
    await store.importErasures([], by);
    await store.prune('receipts', future, by);
    await store.writePartnersWithKeys([{ id, name, created_at, keys: [] }], by, 'keep');
    await store.writePartnersWithKeys([{ id, name: 'New', created_at, keys: [] }], by, 'try');
    await assert.rejects(store.createPartner({ id, name, created_at }, by));
    await assert.rejects(store.createGrant(grant, by));
    await assert.rejects(store.createKey({ ...key, scopes: ['BRANDS_READ'] }, digest(3), by));
    assert.deepEqual(await store.listAudit({ actor: 'eve', limit: 10 }), []);
  },

  'lists audit entries newest first, by actor, action, target and time, each exactly once': async (open) => {
    const store = await open();
    for (let index = 0; index < 24; index += 1) {
      const action = index % 3 === 0 ? 'keys create' : 'keys revoke';
      const by = { actor: index % 2 === 0 ? 'eve' : 'bob', action } as const;
      await store.createPartner({ id: `p${index}`, name: 'P', created_at: createdAt }, by);
    }
    const all = await walk(store, {});
    assert.deepEqual(
      pluck(all, 'target'),
      Array.from({ length: 24 }, (_, index) => `p${23 - index}`),
    );
    const middle = all[12]!.at;
    for (const actor of [undefined, 'eve', 'nobody']) {
      for (const action of [undefined, 'keys revoke']) {
        for (const target of [undefined, 'p4']) {
          for (const times of [{}, { since: middle }, { until: middle }]) {
            const expected = all.filter(
              (entry) =>
                entry.actor === (actor ?? entry.actor) &&
                entry.action === (action ?? entry.action) &&
                entry.target === (target ?? entry.target) &&
                entry.at >= ('since' in times ? middle : entry.at) &&
                (!('until' in times) || entry.at < middle),
            );
            assert.deepEqual(await walk(store, { actor, action, target, ...times }), expected);
          }
        }
      }
    }
  },

  'erases the balances and grants of a customer, and nothing of another': async (open) => {
    const [store, other] = [await openWith(open, 'acme'), await open()];
    const rows = ['alice', 'zoe'].flatMap((customer) => ['a', 'b'].map((id) => plainBalance(customer, id)));
    await writeRows(store, 'balances', rows);
    for (const customer_id of ['alice', 'zoe']) await store.createGrant({ ...grant, customer_id }, byTest);
    await store.recordReceipts([receiptAt(0, { customer_id: 'alice' })]);
    assert.deepEqual(await store.eraseCustomer('alice', byTest), { balances: 2, grants: 1 });
    assert.deepEqual(pluck(await other.findGrants('g'), 'customer_id'), ['zoe']);
    const customers = (await exported(other, 'balances')).map((line) => JSON.parse(line).customer_id);
    assert.deepEqual(customers, ['zoe', 'zoe']);
    assert.equal((await other.listReceipts({ customerId: 'alice', limit: 9 })).length, 1);
    assert.equal(await store.eraseCustomer('alice', byTest), undefined);
  },

  'keeps late records of an erased customer away, also records that it never had': async (open) => {
    const store = await openWith(open, 'acme');
    const ahead = new Date(Date.now() + 240_000).toISOString();
    const [balance, timed] = [plainBalance('alice', 'a'), { is_timed: 1 }];
    await writeRows(store, 'balances', [{ ...balance, ...timed, updated_at: ahead }]);
    await store.eraseCustomer('alice', byTest);
    const late = [{ ...balance, updated_at: ahead }, plainBalance('alice', 'never seen')].map((row) => ({
      ...row,
      ...timed,
    }));
    assert.partialDeepStrictEqual(await writeRows(store, 'balances', late), { written: 0, stale: 2 });
    assert.partialDeepStrictEqual(await writeRows(store, 'grants', [{ ...grant, ...timed }]), {
      written: 0,
      stale: 1,
    });
    // A consent that was given after the erasure can be revoked, even if the erasure is ahead of the clock.
    await store.createGrant({ ...grant, customer_id: 'alice', id: 'new' }, byTest);
    const revoked = [{ ...grant, customer_id: 'alice', id: 'new', status: 'REVOKED' }];
    assert.partialDeepStrictEqual(await writeRows(store, 'grants', revoked), { written: 1, stale: 0 });
    const newer = [{ ...balance, ...timed, updated_at: future }];
    assert.partialDeepStrictEqual(await writeRows(store, 'balances', newer), { written: 1, stale: 0 });
  },

  'repeats erasures of another database with their times, once, and keeps what is newer': async (open) => {
    const [store, other] = [await openWith(open, 'acme'), await open()];
    const [day1, day2, day3, day4] = [1, 2, 3, 4].map((day) => `2026-02-0${day}T00:00:00.000Z`);
    const balance = (id: string, updated_at = day1) => ({
      ...plainBalance('alice', id),
      ...{ updated_at, is_timed: 1 },
    });
    const deleted = (id: string, deleted_at = day1) => ({ customer_id: 'alice', id, deleted_at });
    await writeRows(store, 'balances', [
      balance('old', day2),
      balance('new', day3),
      plainBalance('zoe', 'z'),
    ]);
    await writeRows(store, 'balances', [deleted('gone', day1), deleted('gone later', day4)]);
    await writeRows(store, 'grants', [
      { ...grant, id: 'old', updated_at: day2, is_timed: 1 },
      { ...grant, id: 'new', updated_at: day3, is_timed: 1 },
    ]);
    const erasures = [
      { customer_id: 'alice', erased_at: day2! },
      { customer_id: 'never seen', erased_at: day2! },
    ];
    assert.deepEqual(await store.importErasures(erasures, byTest), { erased: 2, balances: 1, grants: 1 });
    const idsOf = async (kind: 'balances' | 'grants') =>
      (await exported(other, kind)).map((line) => JSON.parse(line).id);
    assert.deepEqual([await idsOf('balances'), await idsOf('grants')], [['new', 'z'], ['new']]);
    const late = [balance('old', day2), { ...balance('b', day2), customer_id: 'never seen' }];
    assert.partialDeepStrictEqual(await writeRows(store, 'balances', late), { written: 0, stale: 2 });
    // The later deletion is still remembered.
    const mixed = [balance('gone later', day3), balance('gone', day3)];
    assert.partialDeepStrictEqual(await writeRows(store, 'balances', mixed), { written: 1, stale: 1 });

    const before = [{ customer_id: 'alice', erased_at: day1! }];
    for (const again of [erasures, before, []]) {
      const nothing = { erased: 0, balances: 0, grants: 0 };
      assert.deepEqual(await store.importErasures(again, { ...byTest, actor: 'eve' }), nothing);
    }
    assert.deepEqual(await other.listAudit({ actor: 'eve', limit: 1 }), []);
    const lines = erasures.map((erasure) => JSON.stringify(erasure));
    assert.deepEqual(await exported(other, 'erasures'), lines);
    const later = [{ customer_id: 'alice', erased_at: day3! }];
    assert.deepEqual(await store.importErasures(later, byTest), { erased: 1, balances: 2, grants: 1 });
  },

  'keeps the changes of a moved file apart from what was there': async (open) => {
    const store = await open();
    await createPartners(store, 'acme');
    const acme = { id: 'acme', name: 'The acme', created_at: createdAt };
    const moved = { ...key, digest: '01'.repeat(32), scopes: ['BRANDS_READ' as const], created_by: 'bob' };
    const { partner_id: _, ...keyOnly } = moved;
    const file = [
      { ...acme, keys: [keyOnly] },
      { ...acme, id: 'new', keys: [] },
    ];
    const expected = {
      created: { partners: 1, keys: 1 },
      changed: { partners: 0, keys: 0 },
      unchanged: { partners: 1, keys: 0 },
      not_applied: [],
    };
    assert.deepEqual(await store.writePartnersWithKeys(file, byTest, 'try'), expected);
    assert.deepEqual(pluck(await store.listPartners(), 'id'), ['acme']);
    assert.deepEqual(await store.writePartnersWithKeys(file, byTest, 'keep'), expected);
    assert.equal((await store.findKeyById('k'))?.created_by, 'bob');
    const again = [{ ...acme, name: 'Renamed', keys: [{ ...keyOnly, revoked_at: past }] }];
    assert.deepEqual((await store.writePartnersWithKeys(again, byTest, 'keep')).changed, {
      partners: 1,
      keys: 1,
    });
    assert.deepEqual((await store.writePartnersWithKeys(again, byTest, 'keep')).unchanged, {
      partners: 1,
      keys: 1,
    });
  },
};

/** All entries, read page by page. */
async function walk(
  store: Store,
  query: Omit<Parameters<Store['listAudit']>[0], 'limit'>,
): Promise<NumberedEntry[]> {
  const all: NumberedEntry[] = [];
  while (true) {
    const page = await store.listAudit({ ...query, after: all.at(-1), limit: 5 });
    all.push(...page);
    if (page.length < 5) return all;
  }
}
