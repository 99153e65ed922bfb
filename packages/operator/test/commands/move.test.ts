/** The move of docs/how-to/operators/move-to-postgres.md, and back: no client notices. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { Store } from '../../../store/src/port.ts';
import { exported } from '../../../store/test/suite/exports.ts';
import { balances, brands } from '../../../store/test/suite/records.ts';
import { openTestDatabase } from '../../../testkit/fixtures/database.ts';
import { byTest, fillFixture, keys } from '../../../testkit/fixtures/fixture.ts';
import { spawnCommand } from '../../../testkit/fixtures/run.ts';
import { startTestService } from '../../../testkit/fixtures/service.ts';
import { importValues } from '../../src/ingest/import.ts';

const customers = ['alice', '\u2028"\\ 🦊&?', '\ue000\u{10000}'];

/** The fixture, and records with awkward characters. */
async function fillAwkward(store: Store): Promise<void> {
  await fillFixture(store);
  const sample = { seed: 20_261_115, numRuns: 150 };
  const marked = fc.sample(brands, sample).map((brand) => ({
    ...brand,
    // An import accepts any characters in an address. The contract of responses does not.
    ...(brand.profile_image_url && { profile_image_url: encodeURI(brand.profile_image_url) }),
  }));
  await importValues(store, 'brands', marked, 'acme');
  const owned = fc.sample(balances, sample).map((balance, index) => ({
    ...balance,
    customer_id: customers[index % customers.length],
  }));
  await importValues(store, 'balances', owned);
  const grants = customers.map((customer_id) => ({ id: 'g-moved', partner_id: 'acme', customer_id }));
  await importValues(store, 'grants', grants);
  const [customer_id, erased_at] = ['erased "é"', '2026-01-01T00:00:00.123Z'];
  await store.importErasures([{ customer_id, erased_at }], byTest);
}

/** Pipes the output of one command into another. */
async function pipe(words: readonly string[], from: string, into: readonly string[], to: string) {
  const setting = ['--environment', 'sandbox', '--database'];
  const source = spawnCommand([...words, ...setting, from]);
  const target = spawnCommand([...into, '-', ...setting, to]);
  source.stdout.pipe(target.stdin);
  const remarks = Promise.all([text(source.stderr), text(target.stderr)]);
  const ends = await Promise.all([once(source, 'close'), once(target, 'close')]);
  assert.deepEqual(
    [ends.map(([status]) => status), await remarks],
    [
      [0, 0],
      ['', ''],
    ],
  );
}

/** Moves as the page says, with the real executable. */
async function move(from: string, to: string): Promise<void> {
  await pipe(['partners', 'export'], from, ['partners', 'import'], to);
  await pipe(['export', 'erasures'], from, ['import', 'erasures'], to);
  for (const partner of ['acme', 'zenith']) {
    const whose = ['--partner', partner];
    await pipe(['export', 'brands', ...whose], from, ['import', 'brands', ...whose], to);
  }
  await pipe(['export', 'balances'], from, ['import', 'balances'], to);
  await pipe(['export', 'grants'], from, ['import', 'grants'], to);
}

/** Every page that a key can see, without the cursors: each database seals its own. */
async function pagesOf(t: TestContext, store: Store): Promise<string[]> {
  const service = await startTestService(t, { reads: async () => store });
  const pages: string[] = [];

  async function walk(path: string, key: string): Promise<void> {
    let cursor: string | undefined;
    do {
      const next: string = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const answer = await service.call(`/network/v1/${path}${next}`, { key });
      cursor = JSON.parse(answer.text).cursor;
      pages.push(`${answer.status} ${answer.text.replace(/,"cursor":"[^"]*"/, '')}`);
    } while (cursor !== undefined);
  }

  for (const key of Object.values(keys)) await walk('brands?limit=40', key);
  for (const customer of [...customers, 'zoe', 'carol', 'nobody']) {
    await walk(`balances?type=CHECKING&limit=20&customer_id=${encodeURIComponent(customer)}`, keys.acme);
  }
  return pages;
}

test('a move to Postgres and back changes no byte of any answer, and every key still works', async (t) => {
  const embedded = await openTestDatabase(t, 'awkward', fillAwkward, 'sqlite');
  const postgres = await openTestDatabase(t, 'nothing', async () => {}, 'postgres');
  const again = await openTestDatabase(t, 'nothing', async () => {}, 'sqlite');
  const before = await pagesOf(t, embedded.store);
  assert.ok(before.filter((page) => page.startsWith('200 ')).length > 10);
  await move(embedded.url, postgres.url);
  assert.deepEqual(await pagesOf(t, postgres.store), before);
  await move(postgres.url, again.url);
  assert.deepEqual(await pagesOf(t, again.store), before);
  const erasures = await exported(embedded.store, 'erasures');
  assert.equal(erasures.length, 1);
  for (const { store } of [postgres, again]) assert.deepEqual(await exported(store, 'erasures'), erasures);
});
