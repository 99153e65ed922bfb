import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { constants, DatabaseSync, type StatementSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { OperatorError } from '../../../common/src/errors.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { run } from '../../../testkit/fixtures/run.ts';
import { toCreate, toServe } from '../../src/address.ts';
import { openSqlite } from '../../src/sqlite/open.ts';
import { createReads } from '../../src/sqlite/reads.ts';
import { type OpenStore, openingSuite, storeSuite } from '../suite/suite.ts';
import { connect, copyOf, openCopy } from './copies.ts';

const paths = new WeakMap<TestContext, string>();

/** Opens the new database of a test, in a new folder. */
const open: OpenStore = async (t, environment) => {
  const path = paths.get(t) ?? join(temporaryFolder(t), 'new', 'test.db');
  paths.set(t, path);
  const store = openSqlite(path, environment, toCreate);
  t.after(() => store.close());
  return store;
};

openingSuite('opening the embedded database', open);
storeSuite('the embedded database', openCopy);

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test('only the owner can access its files and the folder that it creates', async (t) => {
  const before = process.umask(0o000);
  t.after(() => process.umask(before));
  await open(t, 'sandbox');
  const path = paths.get(t)!;
  assert.deepEqual([path, `${path}-wal`, `${path}-shm`].map(modeOf), ['600', '600', '600']);
  assert.equal(modeOf(join(path, '..')), '700');
});

test('a copy made by vacuum can be read while another process writes', async (t) => {
  const copy = `${copyOf(t)}.copy`;
  connect(t, copyOf(t)).prepare('vacuum into ?').run(copy);
  const restored = openSqlite(copy, 'sandbox', toServe);
  t.after(() => restored.close());
  connect(t, copy).exec('begin exclusive');
  assert.equal((await restored.listPartners()).length, 0);
});

test('migrates once when four processes migrate at the same time', async (t) => {
  const path = join(temporaryFolder(t), 'test.db');
  const words = ['migrate', '--json', '--database', `sqlite:${path}`];
  const ended = await Promise.all(Array.from({ length: 4 }, () => run(words)));
  assert.deepEqual(pluck(ended, 'status'), Array(4).fill(0), ended.map(({ stderr }) => stderr).join(''));
  const froms = ended.map(({ stdout }) => JSON.parse(stdout).from).sort();
  const { to } = JSON.parse(ended[0]!.stdout);
  assert.deepEqual(froms, [0, ...Array(3).fill(to)]);
  const keys = connect(t, path).prepare('select count(*) as count from cursor_keys').get();
  assert.equal(keys?.count, 1);
});

test('waits for another process that writes to the new file', async (t) => {
  const path = join(temporaryFolder(t), 'test.db');
  const script = `
    const db = new (require('node:sqlite').DatabaseSync)(process.argv[1], { timeout: 1_000 });
    db.exec('begin immediate');
    console.log('locked');
    setTimeout(() => db.exec('commit'), 200);`;
  const writer = spawn(process.execPath, ['-e', script, path]);
  const ended = once(writer, 'exit');
  await once(writer.stdout, 'data');
  const store = openSqlite(path, 'sandbox', toCreate);
  t.after(() => store.close());
  assert.equal(store.migration.from, 0);
  assert.deepEqual(await ended, [0, null]);
});

test('rejects a schema that is newer than the program, and does not change it', (t) => {
  const db = connect(t, copyOf(t));
  db.exec('pragma user_version = 999');
  assert.throws(
    () => openSqlite(copyOf(t), 'sandbox', toCreate),
    (error) => error instanceof OperatorError && /schema 999.*newer version/.test(error.message),
  );
  assert.equal(db.prepare('pragma user_version').get()?.user_version, 999);
});

/** A connection that records the statements prepared on it. */
class RememberingDatabase extends DatabaseSync {
  readonly prepared: string[] = [];

  override prepare(sql: string): StatementSync {
    this.prepared.push(sql);
    return super.prepare(sql);
  }
}

/** How each statement of a request must find its rows: by an index on all of its conditions. */
const searches = [
  ['api_keys', /digest = \?1/, 'digest=?'],
  ['brands', /reference_id = \?/, 'partner_id=? AND reference_id=? AND id>?'],
  ['brands', /partner_id = \?/, 'partner_id=? AND id>?'],
  ['balances', /customer_id = \?/, 'customer_id=? AND id>?'],
  ['grants', / id = \?/, 'customer_id=? AND id=?'],
  ['grants', /status = 'ACTIVE'/, 'customer_id=? AND partner_id=? AND status=?'],
] as const;

test('every statement of a request uses an index, without scans and sorting', (t) => {
  const db = new RememberingDatabase(copyOf(t));
  t.after(() => db.close());
  createReads(db);
  const hot = [...db.prepared].filter((sql) => /from (brands|balances|grants|api_keys)\b/.test(sql));
  const unused = new Set(searches);
  for (const sql of hot) {
    const steps = db.prepare(`explain query plan ${sql}`).all();
    const plan = steps.map(({ detail }) => String(detail));
    for (const step of plan) assert.doesNotMatch(step, /SCAN (?!\(subquery)|TEMP B-TREE|AUTOMATIC/, sql);
    const search = searches.find(([name, mark]) => sql.includes(`from ${name}`) && mark.test(sql));
    assert.ok(search, `say in "searches" by which index this statement finds its rows: ${sql}`);
    unused.delete(search);
    const [table, , key] = search;
    const found = plan.filter((step) => step.startsWith(`SEARCH ${table === 'api_keys' ? 'k' : table} `));
    assert.ok(found.length > 0, sql);
    for (const step of found) assert.ok(step.includes(`(${key}`), `${step} for ${sql}`);
  }
  assert.deepEqual([...unused], []);
});

test('plans each statement of a request once, whatever its parameters', async (t) => {
  const db = connect(t, copyOf(t));
  const time = '2026-01-01T00:00:00.000Z';
  for (const number of [1, 2]) {
    db.exec(`
      insert into partners (id, name, created_at) values ('P${number}', 'P', '${time}');
      insert into grants (customer_id, id, partner_id, action, status, created_at, updated_at)
      values ('C${number}', 'G${number}', 'P${number}', 'CHECKING_BALANCE', 'ACTIVE', '${time}', '${time}')`);
  }
  const reads = createReads(db);
  let plans = 0;
  // SQLite calls the authorizer only when it plans a statement. Setting it makes SQLite plan all again.
  db.setAuthorizer(() => {
    plans += 1;
    return constants.SQLITE_OK;
  });
  async function askAll(limit: number): Promise<void> {
    const page = { partnerId: `P${limit}`, after: `A${limit}`, limit };
    await reads.findKey(new Uint8Array(32).fill(limit));
    for (const referenceId of [undefined, `R${limit}`]) await reads.listBrands({ ...page, referenceId });
    for (const grantId of [undefined, `G${limit}`]) {
      const whose = { customerId: `C${limit}`, type: 'CHECKING', grantId, at: time };
      assert.equal((await reads.listBalances({ ...page, ...whose })).grant, 'ACTIVE');
    }
  }
  await askAll(1);
  assert.ok(plans > 0);
  plans = 0;
  await askAll(2);
  assert.equal(plans, 0);
});
