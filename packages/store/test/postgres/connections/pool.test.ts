/** The pool of Postgres connections, which stay open between statements. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { postgresBounds } from '../../../../common/src/bounds/store.ts';
import { digestOfKey } from '../../../../service/src/auth.ts';
import { until } from '../../../../testkit/fixtures/lifetime.ts';
import { connectTo, emptyDatabase } from '../../../../testkit/servers/postgres.ts';
import { migratedDatabase, openServing } from '../../../../testkit/service/database.ts';
import { StoreUnavailable } from '../../../src/port.ts';
import { Pool } from '../../../src/postgres/connections/pool.ts';

/**
 * A pool whose server can be lost, and can be made to reject the next connections. A busy machine can take
 * longer than 250 ms to open a connection, so callers wait longer here.
 */
async function poolOf(t: TestContext, connections: number, waitMs = 10_000) {
  const rejections: string[] = [];
  let onReturn = (_isOther: boolean) => {};
  const source = {
    url: await emptyDatabase(t),
    whenAvailable: async () => {},
    examine: async () => {
      const message = rejections.shift();
      if (message !== undefined) throw new StoreUnavailable(message);
    },
    onReturn: (listener: typeof onReturn) => {
      onReturn = listener;
    },
  };
  const pool = new Pool({ source, connections, keepsSession: true, answersRequests: true, waitMs });
  t.after(pool.close);
  const share = { name: 'share', text: 'select 100 / $1::int as share, pg_backend_pid() as pid' };
  const rowOf = async (divisor: number) => (await pool.query(share, [divisor]))[0]!;
  return {
    url: source.url,
    pool,
    rejections,
    serverReturns: (isOther: boolean) => onReturn(isOther),
    divide: async (divisor: number) => (await rowOf(divisor)).share,
    /** The server process behind a connection. */
    backend: async () => (await rowOf(1)).pid,
    sleep: (seconds: number) => pool.query({ text: 'select pg_sleep($1)' }, [seconds]),
  };
}

test('each caller gets its own answer, also after a statement that the server rejects', async (t) => {
  const { pool, divide } = await poolOf(t, 1);
  const answers = await Promise.allSettled([1, 0, 4, 0, 5].map(divide));
  assert.deepEqual(
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'rejected')),
    [100, 'rejected', 25, 'rejected', 20],
  );
  assert.deepEqual(pool.use(), { open: 1, busy: 0, waiting: 0 });
});

test('a named statement is prepared again after the type of a column was changed', async (t) => {
  const { url, pool } = await poolOf(t, 1);
  const client = await connectTo(t, url);
  await client.query('create table changing (value integer); insert into changing values (1)');
  const read = () => pool.query({ name: 'changing', text: 'select value from changing' }, []);
  assert.deepEqual(await read(), [{ value: 1 }]);
  await client.query('alter table changing alter column value type text');
  await assert.rejects(read(), /cached plan/);
  assert.deepEqual(await read(), [{ value: '1' }]);
});

test('callers that wait get a connection in the order in which they came', async (t) => {
  const { divide } = await poolOf(t, 1);
  const order: number[] = [];
  const divisors = [1, 2, 4, 5, 10];
  await Promise.all(divisors.map((divisor) => divide(divisor).then(() => order.push(divisor))));
  assert.deepEqual(order, divisors);
});

test('a connection that ends while it is idle is replaced before the next statement', async (t) => {
  const { url, pool, backend, divide } = await poolOf(t, 1);
  const pid = await backend();
  await (await connectTo(t, url)).query('select pg_terminate_backend($1)', [pid]);
  await until(20_000, () => pool.use().open === 0);
  assert.equal(await divide(2), 50);
});

test('a quick statement does not wait behind a slow one while another connection is idle', async (t) => {
  const { pool, divide, sleep } = await poolOf(t, 2);
  const slow = sleep(0.4);
  const quick = sleep(0.01);
  await until(20_000, () => pool.use().busy === 2);
  assert.equal(await divide(2), 50);
  assert.equal(pool.use().busy, 1);
  await Promise.all([slow, quick]);
});

test('a caller that times out while it waits does not block a connection', async (t) => {
  const { pool, divide, sleep } = await poolOf(t, 1, 100);
  assert.equal(await divide(1), 100);
  const slow = sleep(0.5);
  await until(20_000, () => pool.use().busy === 1);
  await assert.rejects(divide(1), /All connections to the database are in use/);
  assert.equal(pool.use().waiting, 0);
  await slow;
  assert.equal(await divide(2), 50);
});

test('if a connection cannot be opened, the next waiting caller tries in turn', async (t) => {
  const { pool, divide, rejections } = await poolOf(t, 1);
  rejections.push('first', 'second');
  const answers = [divide(1), divide(2), divide(4)].map((answer) =>
    answer.catch((error: Error) => {
      assert.ok(error instanceof StoreUnavailable);
      return error.message;
    }),
  );
  assert.deepEqual(await Promise.all(answers), ['first', 'second', 25]);
  assert.equal(pool.use().open, 1);
});

test('while no connection can be opened, callers share the open ones', async (t) => {
  const { pool, divide, sleep, rejections } = await poolOf(t, 2);
  assert.equal(await divide(1), 100);
  const slow = sleep(0.3);
  await until(20_000, () => pool.use().busy === 1);
  const many = Array.from({ length: 5 }, () => 'refused');
  rejections.push(...many);
  assert.deepEqual(await Promise.all(many.map(() => divide(4))), [25, 25, 25, 25, 25]);
  await slow;
  assert.deepEqual(pool.use(), { open: 1, busy: 0, waiting: 0 });
  assert.deepEqual(rejections, many.slice(1), 'it is tried once, not again and again');
});

test('a connection that breaks is replaced for the caller that waits', async (t) => {
  const { url, pool, backend, sleep } = await poolOf(t, 1);
  const pid = await backend();
  const other = await connectTo(t, url);
  const broken = assert.rejects(sleep(1), StoreUnavailable);
  const waiting = backend();
  await until(20_000, () => pool.use().waiting === 1);
  await other.query('select pg_terminate_backend($1)', [pid]);
  await broken;
  assert.notEqual(await waiting, pid);
});

test('a connection is closed when it gets too old, and when it was idle for too long', async (t) => {
  const { pool, backend, sleep } = await poolOf(t, 2);
  const clock = t.mock.method(performance, 'now');
  const start = performance.now();
  const pid = await backend();
  assert.equal(await backend(), pid, 'it is used again');

  // Long enough for one upkeep, and far shorter than a statement may take.
  const busy = sleep((1.1 * postgresBounds.upkeepMs) / 1_000);
  clock.mock.mockImplementation(() => start + postgresBounds.lifetimeMs + 1_000);
  await busy;
  // Its work was done before it was closed. On a busy machine, the upkeep may come later.
  await until(20_000, () => pool.use().open === 0);

  assert.notEqual(await backend(), pid);
  clock.mock.mockImplementation(() => start + postgresBounds.lifetimeMs + postgresBounds.idleMs + 2_000);
  await until(20_000, () => pool.use().open === 0);
});

test('after the same server returns, busy connections finish and no connection is reused', async (t) => {
  const { pool, backend, divide, sleep, serverReturns } = await poolOf(t, 2);
  const busy = sleep(0.2);
  const pid = await backend();
  serverReturns(false);
  assert.equal(pool.use().open, 1, 'the idle one is closed');
  await busy;
  assert.equal(pool.use().open, 0);
  assert.notEqual(await backend(), pid);
  assert.equal(await divide(2), 50);
});

test('after another server took its place, busy connections fail at once', async (t) => {
  const { pool, backend, sleep, serverReturns } = await poolOf(t, 2);
  const busy = sleep(1);
  const pid = await backend();
  const startMs = performance.now();
  serverReturns(true);
  await assert.rejects(busy, /The database cannot be reached \(the connection was lost\)/);
  assert.ok(performance.now() - startMs < 500);
  assert.equal(pool.use().open, 0);
  assert.notEqual(await backend(), pid);
});

test('closing lets a running statement finish, but not for long, and rejects new ones', async (t) => {
  const { pool, divide, sleep } = await poolOf(t, 2);
  const [short, long] = [sleep(0.2), sleep(5)];
  const failed = assert.rejects(long, StoreUnavailable);
  await until(20_000, () => pool.use().busy === 2);
  const startMs = performance.now();
  const closed = pool.close();
  await assert.rejects(divide(1), StoreUnavailable);
  await short;
  await Promise.all([closed, failed]);
  const tookMs = performance.now() - startMs;
  assert.ok(tookMs > postgresBounds.closeMs - 50 && tookMs < 3_000, `${tookMs} ms`);
});

test('waits for a connection are measured, and timeouts are counted', async (t) => {
  const url = await migratedDatabase(t);
  const store = await openServing(t, url, { connections: 1 });
  const measured = (name: string, part?: string) =>
    store.metrics
      .find((metric) => metric.name === `partner_network_database_${name}`)!
      .read()
      .find((reading) => reading.part === part)!.value;
  const findKey = () => store.findKey(digestOfKey('nobody'));

  await Promise.all([findKey(), findKey(), findKey()]);
  assert.equal(measured('wait_seconds', 'count'), 2);
  assert.equal(measured('wait_timeouts_total'), 0);

  const locker = await connectTo(t, url);
  await locker.query('begin; lock table api_keys in access exclusive mode');
  const held = Promise.all(Array.from({ length: postgresBounds.sharedCallers }, findKey));
  await assert.rejects(findKey(), StoreUnavailable);
  assert.equal(measured('wait_timeouts_total'), 1);
  assert.equal(measured('wait_seconds', 'count'), 3);
  assert.ok(measured('wait_seconds', 'sum') >= 0.24);
  await locker.query('rollback');
  await held;
});
