/** Connections to Postgres that are kept from one statement to the next. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../../../../testkit/fixtures/until.ts';
import { connectTo, emptyDatabase } from '../../../../testkit/servers/postgres.ts';
import { postgresBounds } from '../../../src/bounds/postgres.ts';
import { createPool } from '../../../src/store/postgres/connections/pool.ts';

/** A pool of some connections, which are called as the test says. */
async function poolOf(t: TestContext, connections: number, name: string) {
  const url = await emptyDatabase(t);
  const source = { role: 'primary' as const, url, found: async () => {}, examine: async () => {} };
  const pool = createPool({ source, connections, keepsSession: true, isHot: true, name });
  t.after(pool.close);
  const numbers = { name: 'numbers', text: 'select 100 / $1::int as share' };
  const ask = async (divisor: number) => (await pool.query(numbers, [divisor]))[0]!.share;
  const sleep = (seconds: number) => pool.query({ text: 'select pg_sleep($1)' }, [seconds]);
  return { url, pool, ask, sleep };
}

test('each gets its own answer, also after one that the server refuses', async (t) => {
  const { pool, ask } = await poolOf(t, 1, 'refused');
  const answers = await Promise.allSettled([ask(1), ask(0), ask(4), ask(0), ask(5)]);
  assert.deepEqual(
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'refused')),
    [100, 'refused', 25, 'refused', 20],
  );
  assert.deepEqual(pool.use(), { open: 1, busy: 0, waiting: 0 });
});

test('a connection that ends while nobody uses it is replaced before the next statement', async (t) => {
  const { url, pool, ask } = await poolOf(t, 1, 'ended');
  assert.equal(await ask(1), 100);
  const administrator = await connectTo(t, url);
  await administrator.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ended'`,
  );
  await until(2_000, () => pool.use().open === 0);
  assert.equal(await ask(2), 50);
});

test('a quick statement does not wait behind a slow one while another connection is free', async (t) => {
  const { pool, ask, sleep } = await poolOf(t, 2, 'slow');
  const slow = sleep(0.4);
  const quick = sleep(0.01);
  await until(2_000, () => pool.use().busy === 2);
  assert.equal(await ask(2), 50);
  assert.equal(pool.use().busy, 1);
  await Promise.all([slow, quick]);
});

test('who gives up waiting takes no connection along', async (t) => {
  const { pool, ask, sleep } = await poolOf(t, 1, 'given-up');
  const slow = sleep((1.2 * postgresBounds.postgresPoolWaitMs) / 1_000);
  await until(2_000, () => pool.use().busy === 1);
  await assert.rejects(ask(1), /All connections to the database are in use/);
  assert.equal(pool.use().waiting, 0);
  await slow;
  assert.equal(await ask(2), 50);
});
