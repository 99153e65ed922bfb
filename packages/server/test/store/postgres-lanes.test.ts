/** Statements that share a connection to Postgres. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createPool } from '../../src/store/postgres/pool.ts';
import { connectTo, emptyDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';

/** A pool of one connection, which is called as the test says. */
async function poolOfOne(t: TestContext, name: string) {
  const url = await emptyDatabase(t);
  const source = { role: 'primary' as const, url, found: async () => {}, examine: async () => {} };
  const pool = createPool({ source, connections: 1, keepsSession: true, isHot: true, name });
  t.after(pool.close);
  const numbers = { name: 'numbers', text: 'select 100 / $1::int as share' };
  const ask = async (divisor: number) => (await pool.query(numbers, [divisor]))[0]!.share;
  return { url, pool, ask };
}

test('each gets its own answer, also behind one that the server refuses', async (t) => {
  const { pool, ask } = await poolOfOne(t, 'shared');
  const answers = await Promise.allSettled([ask(1), ask(0), ask(4), ask(0), ask(5)]);
  assert.deepEqual(
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'refused')),
    [100, 'refused', 25, 'refused', 20],
  );
  assert.equal(pool.use().open, 1);
});

test('a connection that ends while nobody uses it is replaced before the next statement', async (t) => {
  const { url, pool, ask } = await poolOfOne(t, 'ended');
  assert.equal(await ask(1), 100);
  const administrator = await connectTo(t, url);
  await administrator.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ended'`,
  );
  await until(2_000, () => pool.use().open === 0);
  assert.equal(await ask(2), 50);
});

test('a transaction gets a connection, though statements hold all that there may be', async (t) => {
  const { pool, ask } = await poolOfOne(t, 'alone');
  const before = ask(1);
  const alone = pool.transaction(async (client) => (await client.query('select 1 as one')).rows[0].one);
  assert.deepEqual(await Promise.all([before, alone, ask(2)]), [100, 1, 50]);
});

test('those that are behind others count as waiting, and then as nothing', async (t) => {
  const { pool, ask } = await poolOfOne(t, 'slow');
  const slow = pool.query({ text: 'select pg_sleep(0.1)' }, []);
  const behind = [ask(2), ask(4)];
  await until(2_000, () => pool.use().waiting === 2);
  assert.equal(pool.use().busy, 1);
  await slow;
  assert.deepEqual(await Promise.all(behind), [50, 25]);
  assert.deepEqual(pool.use(), { open: 1, busy: 0, waiting: 0 });
});
