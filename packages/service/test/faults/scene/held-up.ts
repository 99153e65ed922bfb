/** Blocks statements of the service by a lock, and counts them on the server. */
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { connectTo } from '../../../../testkit/servers/postgres.ts';

/** The number of statements of the service that wait for a lock. */
export async function statementsOf(observer: pg.Client): Promise<number> {
  const { rows } = await observer.query(`
    select count(*)::integer as running from pg_stat_activity
    where application_name like 'partner-network%' and wait_event_type = 'Lock'`);
  return rows[0].running;
}

/** Locks a table, waits until this number of statements need it, and returns the unlock function. */
export async function holdUp(
  t: TestContext,
  url: string,
  table: string,
  statements = 1,
): Promise<() => Promise<void>> {
  const locker = await connectTo(t, url);
  // Not the locker: within a transaction pg_stat_activity does not change.
  const observer = await connectTo(t, url);
  await locker.query(`begin; lock table ${table} in access exclusive mode`);
  while ((await statementsOf(observer)) < statements) await wait(5);
  return async () => void (await locker.query('rollback'));
}
