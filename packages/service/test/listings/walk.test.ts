import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { importValues } from '../../../operator/src/ingest/import.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { startTestService, type TestService } from '../../../testkit/service/service.ts';

/** Brands that exist during the whole walk have multiples of ten; others come and go at the fives between. */
const idOf = (number: number) => `walk-${String(number).padStart(6, '0')}`;
const brandOf = (number: number, name: string) => ({ id: idOf(number), name, reference_id: 'walk' });
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index * 10);

async function startWithBrands(t: TestContext, standing: readonly number[]): Promise<TestService> {
  const service = await startTestService(t);
  const brands = standing.map((number) => brandOf(number, 'standing'));
  await importValues(service.store, 'brands', brands, 'acme');
  return service;
}

async function walk(
  { brands }: TestService,
  limit: number,
  betweenPages: (lastId: string) => Promise<void> = async () => {},
  filter = 'reference_id=walk&',
): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const { status, text } = await brands(`?${filter}limit=${limit}${cursor}`, { key: keys.acme });
    assert.equal(status, 200);
    const page = JSON.parse(text);
    ids.push(...page.brands.map(({ id }: { id: string }) => id));
    if (page.cursor === undefined) return ids;
    assert.ok(page.brands.length > 0, 'a page with a cursor is never empty');
    cursor = `&cursor=${page.cursor}`;
    await betweenPages(ids.at(-1)!);
  }
}

for (const limit of [1, 7, 50, 100]) {
  test(`a walk by ${limit} returns each brand that exists throughout once, during writes`, async (t) => {
    // Up to a hundred pages, and four at the largest limit.
    const standing = numbers(Math.min(400, 100 * limit));
    const service = await startWithBrands(t, standing);
    const { execute } = service.database;
    const insert = (id: string) =>
      execute(
        `insert into brands (partner_id, id, name, created_at, updated_at, reference_id)
        select partner_id, $1, 'visitor', created_at, updated_at, reference_id from brands where id = $2
        on conflict do nothing`,
        id,
        idOf(0),
      );
    const rename = (id: string, name: string) =>
      execute(`update brands set name = $1 where partner_id = 'acme' and id = $2`, name, id);

    let inserted = 0;
    let deleted = 0;
    let round = 0;
    const ids = await walk(service, limit, async (lastId) => {
      round += 1;
      const here = Math.floor(Number(lastId.slice('walk-'.length)) / 10) * 10;
      if (round % 3 === 0) deleted += await execute(`delete from brands where name = 'visitor'`);
      for (const number of [here - 5, here + 5, here + 15]) {
        inserted += await insert(idOf(Math.max(5, number)));
      }
      await rename(idOf(standing[(round * 7) % standing.length]!), `renamed ${round}`);
    });

    assert.ok(inserted > 5 && deleted > 5, `${inserted} came, ${deleted} went`);
    assert.deepEqual(
      ids.filter((id) => id.endsWith('0')),
      standing.map(idOf),
    );
    assert.deepEqual(ids, [...new Set(ids)].toSorted(), 'no id twice, in byte order');
  });
}

test('each page is read at the write-ahead log position of the previous page', async (t) => {
  const asked: (bigint | undefined)[] = [];
  const service = await startTestService(t, {
    reads: async ({ store }) => ({
      ...store,
      listBrands: async (query) => {
        asked.push(query.walPosition);
        return { ...(await store.listBrands(query)), walPosition: 2n ** 60n + BigInt(asked.length) };
      },
    }),
  });
  await walk(service, 1, undefined, '');
  assert.deepEqual(asked, [0n, 2n ** 60n + 1n, 2n ** 60n + 2n]);
});
