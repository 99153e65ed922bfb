/** A database that an older version made is upgraded, keeps everything, and is served. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { apiKeyOf } from '../../service/src/auth.ts';
import { temporaryFolder } from '../../testkit/fixtures/lifetime.ts';
import { serveSandbox } from '../../testkit/fixtures/served.ts';
import { loadPostgresOf, placeSqliteOf, releases, schemaOf } from '../../testkit/releases/releases.ts';
import { connectTo, emptyDatabase } from '../../testkit/servers/postgres.ts';
import { keepKey, keepSecret } from '../../testkit/watch/logs.ts';
import { parseDatabaseUrl, toUpdate } from '../src/address.ts';
import { openStore } from '../src/engines.ts';

type Row = Readonly<Record<string, unknown>>;

interface OldDatabase {
  readonly url: string;
  readonly tables: readonly string[];
  select(columns: string, table: string): Promise<readonly Row[]>;
}

const engines: Record<'sqlite' | 'postgres', (t: TestContext, release: string) => Promise<OldDatabase>> = {
  sqlite: async (t, release) => {
    const path = join(temporaryFolder(t), 'old.db');
    placeSqliteOf(release, path);
    const read = (file: string, query: string) => {
      const db = new DatabaseSync(file, { readOnly: true });
      const rows: Row[] = db.prepare(query).all();
      db.close();
      return rows;
    };
    const files = [path, `${path}-receipts`].flatMap((file) =>
      read(file, `select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`).map(
        ({ name }): [string, string] => [String(name), file],
      ),
    );
    const fileOf = new Map(files);
    const select = async (columns: string, table: string) =>
      read(fileOf.get(table)!, `select ${columns} from ${table}`);
    return { url: `sqlite:${path}`, tables: [...fileOf.keys()], select };
  },
  postgres: async (t, release) => {
    const url = await emptyDatabase(t);
    await loadPostgresOf(release, url);
    const client = await connectTo(t, url);
    const select = async (columns: string, table: string) =>
      (await client.query(`select ${columns} from ${table}`)).rows;
    const named = await select('tablename', `pg_tables where schemaname = 'public'`);
    return { url, tables: named.map(({ tablename }) => tablename), select };
  },
};

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
  for (const release of releases) {
    test(`a database of ${release} is upgraded, and keeps everything (${engine})`, async (t) => {
      const { url, tables, select } = await open(t, release);
      const columns = new Map<string, string>();
      const before = new Map<string, Row[]>();
      assert.ok(tables.length > 8);
      // The schema's version is one of the settings.
      for (const table of tables.filter((name) => name !== 'settings')) {
        const rows = plain(await select('*', table));
        assert.ok(rows.length > 0, table);
        columns.set(table, Object.keys(rows[0]!).join());
        before.set(table, plain(rows.map(inOrder)));
      }
      const store = await openStore(parseDatabaseUrl(url)!, 'sandbox', toUpdate);
      const { from, to } = store.migration;
      assert.equal(from, schemaOf(release, engine as keyof typeof engines));
      await store.close();
      // Columns that the upgrade added are left out.
      for (const [table, names] of columns) {
        assert.deepEqual(plain(await select(names, table)), before.get(table), table);
      }
      const again = await openStore(parseDatabaseUrl(url)!, 'sandbox', toUpdate);
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
