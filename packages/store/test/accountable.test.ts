/** What Postgres itself says about an audit entry, and entries whose transactions overlap. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../../testkit/fixtures/lifetime.ts';
import { connectTo } from '../../testkit/servers/postgres.ts';
import { openTestDatabase } from '../../testkit/service/database.ts';
import type { AuditPosition, Store } from '../src/port.ts';
import { createAuditLog } from '../src/sql/audit.ts';
import { readOn } from './suite/audit-follow.ts';

const entry = (target: string) => `
  insert into audit_log (at, actor, action, target, details)
  values (now(), 'eve', 'test', '${target}', '{}')`;

async function scene(t: TestContext) {
  const { store, url } = await openTestDatabase(t, 'nothing', async () => {}, 'postgres');
  return { store, url, connect: () => connectTo(t, url) };
}

/** The reader waits for all older transactions of the server, also for those of other tests. */
async function missesNothing(store: Store, position: AuditPosition): Promise<void> {
  await until(60_000, async () => (await readOn(store, position, 5)).position.missing.length === 0);
}

test('the database adds the role and the address to an entry, and no client can set them', async (t) => {
  const { store, url, connect } = await scene(t);
  const client = await connect();
  await client.query(`
    insert into audit_log (at, actor, action, target, details, db_user, client_address)
    values (now(), 'bob', 'test', 't', '{}', 'bob', '192.0.2.1')`);
  const [found] = await store.listAudit({ limit: 1 });
  const { rows } = await client.query('select host(inet_client_addr()) as address');
  assert.equal(found?.db_user, decodeURIComponent(new URL(url).username));
  assert.equal(found?.client_address, rows[0].address ?? undefined);
});

test('a reader loses no entry of a transaction that commits after a later one', async (t) => {
  const { store, connect } = await scene(t);
  const [slow, quick] = [await connect(), await connect()];
  const start = await store.auditPosition(undefined);
  await slow.query(`begin; ${entry('slow')}`);
  await quick.query(entry('quick'));
  const first = await readOn(store, start);
  assert.deepEqual(first.targets, ['quick']);
  assert.equal(first.position.missing.length, 1);
  await quick.query(entry('next'));
  const second = await readOn(store, first.position);
  assert.deepEqual(second.targets, ['next']);
  await slow.query('commit');
  const third = await readOn(store, second.position);
  assert.deepEqual(third.targets, ['slow']);
  assert.deepEqual(third.position.missing, []);
});

test('a reader that begins while a transaction runs gets its entry', async (t) => {
  const { store, connect } = await scene(t);
  const [slow, quick] = [await connect(), await connect()];
  await slow.query(`begin; ${entry('slow')}`);
  await quick.query(entry('quick'));
  const start = await store.auditPosition(undefined);
  await slow.query('commit');
  assert.deepEqual((await readOn(store, start)).targets, ['slow']);
});

test('a reader loses no entry, however many numbers are missing, with any size of page', async (t) => {
  const { store, connect } = await scene(t);
  const [slow, quick] = [await connect(), await connect()];
  const many = (count: number) => `insert into audit_log (at, actor, action, target, details)
    select now(), 'eve', 'test', 'many', '{}' from generate_series(1, ${count})`;
  const start = await store.auditPosition(undefined);
  await slow.query(`begin; ${many(9)}`);
  await quick.query(entry('one'));
  await quick.query(`begin; ${many(2_000)}; rollback`);
  await slow.query(many(8));
  await quick.query(entry('two'));
  const before = await readOn(store, start, 5);
  assert.deepEqual(before.targets, ['one', 'two']);
  await slow.query('commit');
  const { targets, position } = await readOn(store, before.position, 5);
  assert.equal(targets.length, 17);
  await missesNothing(store, position);
});

test('the statement of a reader does not grow with the gaps', async () => {
  const statementOf = async (gaps: number) => {
    const texts: string[] = [];
    const rows = async (text: string) => {
      texts.push(text);
      return texts.length === 1 ? [{ oldest: '1', next: '1' }] : [];
    };
    const locks = { createGrant: [], eraseCustomer: [], rotateCursorKey: [] };
    const differences = { locks, transactions: '', auditInRanges: () => '' };
    const log = createAuditLog({ rows, transaction: () => assert.fail() }, differences);
    const missing = Array.from({ length: gaps }, (_, at) => ({ from: 2 * at, to: 2 * at, until: '' }));
    await log.followAudit({ last: 2 * gaps, missing }, 100);
    return texts[1];
  };
  assert.equal(await statementOf(1_000), await statementOf(1));
});

test('the database gives an entry its time', async (t) => {
  const { store, connect } = await scene(t);
  const client = await connect();
  for (const time of ["'9999-12-31'", "'0001-01-01 UTC'", "'infinity'"]) {
    await client.query(entry('x').replace('now()', time));
    const [found] = await store.listAudit({ limit: 1 });
    assert.ok(Math.abs(Date.parse(found!.at) - Date.now()) < 3_600_000);
  }
});

test('a role cannot change what a record says with a type of its own', async (t) => {
  const { connect } = await scene(t);
  const client = await connect();
  await client.query(`create domain pg_temp.text as varchar(1);
    insert into balances (customer_id, id, type, currency, amount, created_at, updated_at)
    values ('alice', 'b', 'CHECKING', 'USD', 1, now(), now())`);
  const { rows } = await client.query('select record from balances');
  assert.match(JSON.parse(rows[0].record).created_at, /^\d{4}-\d\d-\d\dT/);
});

test('an entry that could not be shown is refused', async (t) => {
  const client = await (await scene(t)).connect();
  const large = entry('x').replace("'{}'", `json_build_object('a', repeat('x', 2000000))`);
  await assert.rejects(client.query(large), /audit_log_size_check/);
  const deep = entry('x').replace("'{}'", `('{"a":' || repeat('[', 5000) || repeat(']', 5000) || '}')::json`);
  await assert.rejects(client.query(deep), /audit_log_depth_check/);
  await client.query(entry('x').replace("'{}'", `'{"a":[{"b":["c"]}]}'`));
});

test('a time or a text that could not be shown is refused in every table', async (t) => {
  const client = await (await scene(t)).connect();
  const [never, long] = ["'infinity'", `repeat('x', 300)`];
  for (const statement of [
    `insert into key_uses values ('k', ${never})`,
    `insert into key_uses values (${long}, now())`,
    `insert into deleted_brands values ('p', 'b', ${never}, now())`,
    `insert into deleted_brands values ('p', 'b', now(), ${never})`,
    `insert into deleted_brands values ('p', ${long}, now(), now())`,
    `insert into deleted_balances values ('c', 'b', ${never}, now())`,
    `insert into deleted_balances values ('c', 'b', now(), ${never})`,
    `insert into deleted_balances values (${long}, 'b', now(), now())`,
    `insert into erased_customers values ('c', ${never})`,
    `insert into erased_customers values (${long}, now())`,
    `insert into receipts values ('c', ${never}, gen_random_uuid(), 'p', 'k', null, 'GRANTED')`,
    `insert into receipts values ('c', now(), gen_random_uuid(), 'p', ${long}, null, 'GRANTED')`,
    `insert into usage values (now(), 'p', 'k', 'o', ${long}, 1)`,
    `insert into usage values (now(), 'p', 'k', 'o', 'OK', 9223372036854775807)`,
  ]) {
    await assert.rejects(client.query(statement), /violates check constraint/, statement);
  }
});
