import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { importValues } from '../../src/ingest/import.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { keys } from '../support/fixture.ts';
import { startTestService, type TestService } from '../support/service.ts';

const total = 1_000;

/** Ids that are in order as numbers are; every tenth is left free for what is inserted during a walk. */
const idOf = (number: number) => `walk-${String(number).padStart(6, '0')}`;
const brandOf = (number: number, name = 'walked') => ({ id: idOf(number), name, reference_id: 'walk' });
const standing = Array.from({ length: total }, (_, index) => index * 10);

async function walk(
  { brands }: TestService,
  query: string,
  betweenPages: (lastId: string) => Promise<void> = async () => {},
): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const { status, text } = await brands(`?${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`, {
      key: keys.acme,
    });
    assert.equal(status, 200);
    const page = JSON.parse(text);
    assert.ok(page.cursor === undefined || page.brands.length > 0, 'a page with a cursor is never empty');
    ids.push(...page.brands.map(({ id }: { id: string }) => id));
    cursor = page.cursor;
    await betweenPages(ids.at(-1) ?? '');
  } while (cursor !== undefined);
  return ids;
}

for (const limit of [1, 7, 50, 100]) {
  test(`a walk by ${limit} returns each of 1,000 brands once, in order`, async (t) => {
    const service = await startTestService(t);
    await importValues(
      service.store,
      'brands',
      standing.map((number) => brandOf(number)),
      'acme',
    );
    const ids = await walk(service, `limit=${limit}&reference_id=walk`);
    assert.deepEqual(ids, standing.map(idOf));
  });

  test(`a walk by ${limit} returns what stands throughout once, while others write`, async (t) => {
    const service = await startTestService(t);
    await importValues(
      service.store,
      'brands',
      standing.map((number) => brandOf(number)),
      'acme',
    );
    const writer = openSqlite(service.databasePath, 'sandbox', 'create');
    t.after(() => writer.close());

    // Ahead of the walk and behind it, another connection inserts, updates, and deletes what it inserted.
    let round = 0;
    const ids = await walk(service, `limit=${limit}`, async (lastId) => {
      round += 1;
      const here = Number(lastId.split('-')[1] ?? 0);
      const visitors = [here + 1, here + 15, Math.max(1, here - 5)].map((number) =>
        brandOf(number, 'visitor'),
      );
      await importValues(writer, 'brands', visitors, 'acme');
      await importValues(
        writer,
        'brands',
        [brandOf(standing[(round * 7) % total]!, `renamed ${round}`)],
        'acme',
      );
      if (round % 2 === 0) deleteVisitors(service.databasePath);
    });
    const walked = ids.filter((id) => id.startsWith('walk-') && id.endsWith('0'));
    assert.deepEqual(walked, standing.map(idOf));
    assert.deepEqual(ids, ids.toSorted(), 'in byte order');
    assert.equal(new Set(ids).size, ids.length, 'no id twice');
  });
}

function deleteVisitors(path: string): void {
  const db = new DatabaseSync(path, { timeout: 1_000 });
  db.exec(`delete from brands where name = 'visitor'`);
  db.close();
}

test('the row that a cursor stands on may go: the walk goes on after it', async (t) => {
  const service = await startTestService(t);
  const first = JSON.parse((await service.brands('?limit=1', { key: keys.acme })).text);
  const db = new DatabaseSync(service.databasePath);
  db.exec(`delete from brands where partner_id = 'acme' and id = 'b1'`);
  db.close();
  const { text } = await service.brands(`?limit=1&cursor=${first.cursor}`, { key: keys.acme });
  assert.equal(JSON.parse(text).brands[0].id, 'b2');
});
