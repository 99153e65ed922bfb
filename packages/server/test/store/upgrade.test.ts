/** A database that an older version made is upgraded, keeps everything, and is served. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { serveSandbox } from '../../../testkit/fixtures/served.ts';
import { loadOldPostgres, oldVersions, placeOldSqlite } from '../../../testkit/old-databases/load.ts';
import { connectTo, emptyDatabase } from '../../../testkit/servers/postgres.ts';
import { keepKey, keepSecret } from '../../../testkit/watch/logs.ts';
import { apiKeyOf } from '../../src/auth/api-key.ts';
import { parseDatabaseUrl } from '../../src/store/address.ts';
import { openStore } from '../../src/store/engines.ts';

type Row = Readonly<Record<string, unknown>>;

interface OldDatabase {
  readonly url: string;
  select(query: string): Promise<readonly Row[]>;
}

const engines: Record<'sqlite' | 'postgres', (t: TestContext, version: number) => Promise<OldDatabase>> = {
  sqlite: async (t, version) => {
    const path = join(temporaryFolder(t), 'old.db');
    placeOldSqlite(path, version);
    const select = async (query: string) => {
      const inReceipts = / from (receipts|key_uses)$/.test(query);
      const db = new DatabaseSync(inReceipts ? `${path}-receipts` : path, { readOnly: true });
      const rows = db.prepare(query).all();
      db.close();
      return rows;
    };
    return { url: `sqlite:${path}`, select };
  },
  postgres: async (t, version) => {
    const url = await emptyDatabase(t);
    await loadOldPostgres(url, version);
    const client = await connectTo(t, url);
    return { url, select: async (query) => (await client.query(query)).rows };
  },
};

const tables = [
  'partners',
  'api_keys',
  'brands',
  'balances',
  'grants',
  'cursor_keys',
  'receipts',
  'key_uses',
];

/** Rows and their columns in a defined order, with times as text. */
function plain(rows: readonly Row[]): Row[] {
  const texts = rows.map((row) => JSON.stringify(Object.fromEntries(Object.entries(row).toSorted())));
  return texts.toSorted().map((text) => JSON.parse(text));
}

/** A row whose times are in the wrong order gets the earlier one as `created_at`. All else is kept. */
function inOrder({ created_at, updated_at, record, ...rest }: Row): Row {
  if (updated_at === undefined) return { ...rest, created_at };
  const [created, updated] = [String(created_at), String(updated_at)];
  const earlier = created < updated ? created : updated;
  const rendered = record === undefined ? {} : { record: String(record).replace(created, earlier) };
  return { ...rest, created_at: earlier, updated_at: updated, ...rendered };
}

const key = apiKeyOf('sandbox', 'oldAcme'.padEnd(43, '0'));
keepKey(key);
for (const customer of ['old-alice', 'old-bob']) keepSecret('customer', customer);

for (const [engine, open] of Object.entries(engines)) {
  for (const version of oldVersions(engine as keyof typeof engines)) {
    test(`a database with schema ${version} is upgraded, and keeps everything (${engine})`, async (t) => {
      const { url, select } = await open(t, version);
      const columns = new Map<string, string>();
      const before = new Map<string, Row[]>();
      for (const table of tables) {
        const rows = plain(await select(`select * from ${table}`));
        assert.ok(rows.length > 0, table);
        columns.set(table, Object.keys(rows[0]!).join());
        before.set(table, plain(rows.map(inOrder)));
      }
      const store = await openStore(parseDatabaseUrl(url)!, 'sandbox', 'migrate');
      const { from, to } = store.migration;
      assert.equal(from, version);
      await store.close();
      // Columns that the upgrade added are left out.
      for (const [table, names] of columns) {
        assert.deepEqual(plain(await select(`select ${names} from ${table}`)), before.get(table), table);
      }
      const again = await openStore(parseDatabaseUrl(url)!, 'sandbox', 'migrate');
      t.after(() => again.close());
      assert.deepEqual(again.migration, { from: to, to });

      const brands = before.get('brands')!.filter(({ partner_id }) => partner_id === 'old-acme');
      await assertServed(t, url, brands);
    });
  }
}

/** All brands of the partner in the order of their ids, and the outcome of each grant. */
async function assertServed(t: TestContext, url: string, brands: readonly Row[]): Promise<void> {
  const served = await serveSandbox(t, url, ['--public-url', 'https://network.example']);
  const walked: unknown[] = [];
  for (let query: string | undefined = ''; query !== undefined; ) {
    const { status, text } = await served.brands(query, { key });
    assert.equal(status, 200, text);
    const page = JSON.parse(text);
    walked.push(...page.brands);
    query = page.cursor && `?cursor=${page.cursor}`;
  }
  const inIdOrder = brands.toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
  const texts = inIdOrder.map(({ record }) => String(record).replace('\u0001', 'https://network.example'));
  assert.deepEqual(
    walked,
    texts.map((text) => JSON.parse(text)),
  );

  const outcomes = Object.entries({
    ...{ active: 'GRANTED', 'until-2999': 'GRANTED', past: 'GRANT_EXPIRED' },
    ...{ consumed: 'GRANT_CONSUMED', expired: 'GRANT_EXPIRED', revoked: 'GRANT_REVOKED' },
  });
  for (const [grant, outcome] of outcomes) {
    const { text } = await served.balances(`?customer_id=old-alice&type=CHECKING&grant_id=${grant}`, { key });
    assert.equal(JSON.parse(text).errors?.[0].code ?? 'GRANTED', outcome, grant);
  }
}

/** SHA-256 of each migration that databases were made with: a change would not reach these databases. */
const released: Readonly<Record<string, string>> = {
  'postgres/migrations/001_initial.sql': '15e0a3a19bc2ee293a90588dd6a0aeff707d99a7b61eaba3debeaf6f407c6f79',
  'postgres/migrations/002_faster_records.sql':
    '6b7d1edef20ebfd44b3c093d47a0fc418502016b306b92998cb716763b1670ab',
  'postgres/migrations/003_receipts.sql': 'a205d1fbfb76863d99cf1ce8ea2560214e53818c10ba5b5bfb73f72413fc8cb2',
  'sqlite/migrations/001_initial.sql': 'bf7fce3ae949a37eb84d61ad9cbf4517cf16f0ca75a6ad4904f701f6792fe044',
  'sqlite/receipts-migrations/001_initial.sql':
    '2d705929ad94a53070cbb3ff7ac72a5b2676dfc4500f1235008cd797556d3272',
};

test('released migrations never change, and later ones come after them', () => {
  const folder = new URL('../../src/store/', import.meta.url);
  for (const [path, digest] of Object.entries(released)) {
    const content = readFileSync(new URL(path, folder));
    assert.equal(
      createHash('sha256').update(content).digest('hex'),
      digest,
      `${path}: add another file instead`,
    );
  }
  for (const migrations of ['sqlite/migrations', 'sqlite/receipts-migrations', 'postgres/migrations']) {
    const names = globSync(`${migrations}/*.sql`, { cwd: folder }).toSorted();
    const old = Object.keys(released).filter((path) => path.startsWith(`${migrations}/`));
    assert.deepEqual(names.slice(0, old.length), old.toSorted());
  }
});
