/** Both engines return the same bytes on the same pages for the same records. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { serveOptions } from '../../testkit/fixtures/database.ts';
import { byTest, future } from '../../testkit/fixtures/fixture.ts';
import { temporaryFolder } from '../../testkit/fixtures/folder.ts';
import { emptyDatabase, toMigrate } from '../../testkit/servers/postgres.ts';
import type { BalancesAnswer, ImportKind, ImportRow, Page, Store } from '../src/port.ts';
import { openPostgres } from '../src/postgres/open.ts';
import { openSqlite } from '../src/sqlite/open.ts';
import { balances, brandRow, brands, createPartners, grant, texts, writeRows } from './suite/records.ts';

async function openBoth(t: TestContext): Promise<readonly Store[]> {
  const stores = [
    openSqlite(join(temporaryFolder(t), 'test.db'), 'sandbox', 'create'),
    await openPostgres([await emptyDatabase(t)], 'sandbox', toMigrate, serveOptions),
  ];
  t.after(() => Promise.all(stores.map((store) => store.close())));
  return stores;
}

/** Asks both engines, and returns the answer if they agree. */
async function agreed<Answer>(stores: readonly Store[], ask: (store: Store) => Promise<Answer>) {
  const [embedded, postgres] = await Promise.all(stores.map(ask));
  assert.deepEqual(postgres, embedded);
  return embedded!;
}

/** Follows `next` to the end on both engines. Returns the number of bytes. */
async function walk(
  stores: readonly Store[],
  list: (store: Store, after: string) => Promise<Page>,
): Promise<number> {
  let bytes = 0;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: Page = await agreed(stores, async (store) => {
      const { walPosition: _walPosition, ...page } = await list(store, after!);
      return page;
    });
    bytes += page.bytes;
    after = page.next;
  }
  return bytes;
}

/** Also compares the counts: which of two rows with one id wins, and what is unchanged the second time. */
async function importTwice(stores: readonly Store[], kind: ImportKind, rows: readonly ImportRow[]) {
  await agreed(stores, (store) => writeRows(store, kind, rows));
  await agreed(stores, (store) => writeRows(store, kind, rows.toReversed()));
}

const recordsOfRun = { minLength: 200, maxLength: 200 };
const limit = fc.integer({ min: 5, max: 100 });
/** A few reference ids to filter by, one of them of the maximum length. */
const references = ['ref', 'REF', 'r\u00e9f', 're\u0301f', '🦊'.repeat(1_024)];
const brandsOfRun = fc.array(
  fc
    .tuple(brands, fc.option(fc.constantFrom(...references), { nil: undefined }))
    .map(([brand, reference_id]) => (reference_id === undefined ? brand : { ...brand, reference_id })),
  recordsOfRun,
);

test('lists the same brands byte for byte, in the same order on the same pages', async (t) => {
  const stores = await openBoth(t);
  let count = 0;
  const property = fc.asyncProperty(brandsOfRun, limit, async (records, limit) => {
    const partnerId = `p${++count}`;
    await agreed(stores, (store) => createPartners(store, partnerId));
    const rows = records.map((brand) => brandRow(partnerId, brand));
    await importTwice(stores, 'brands', rows);
    for (const referenceId of [undefined, ...references]) {
      const query = { partnerId, referenceId, limit };
      const bytes = await walk(stores, (store, after) => store.listBrands({ ...query, after }));
      assert.ok(bytes > 0);
    }
  });
  await fc.assert(property, { numRuns: 10, endOnFailure: true });
});

test('lists the same balances byte for byte, in the same order on the same pages', async (t) => {
  const stores = await openBoth(t);
  await agreed(stores, (store) => createPartners(store, 'acme'));
  let count = 0;
  const customers = fc.array(texts(1), { minLength: 1, maxLength: 4 });
  const records = fc.array(balances, recordsOfRun);
  const property = fc.asyncProperty(customers, records, limit, async (names, found, limit) => {
    const run = ++count;
    const customerIds = names.map((name, index) => `${run}.${index} ${name}`);
    const rows = found.map((row, index) => ({
      ...row,
      customer_id: customerIds[index % customerIds.length]!,
    }));
    await importTwice(stores, 'balances', rows);
    for (const customerId of customerIds) {
      const permit = { ...grant, customer_id: customerId, expires_at: future };
      await agreed(stores, (store) => store.createGrant(permit, byTest));
      const query = { partnerId: 'acme', customerId, type: 'CHECKING', at: grant.created_at, limit };
      for (const grantId of [undefined, grant.id]) {
        const bytes = await walk(stores, async (store, after) =>
          pageOf(await store.listBalances({ ...query, grantId, after })),
        );
        assert.ok(bytes > 0);
      }
    }
  });
  await fc.assert(property, { numRuns: 12, endOnFailure: true });
});

function pageOf(answer: BalancesAnswer): Page {
  return 'page' in answer ? answer.page : assert.fail(answer.grant);
}
