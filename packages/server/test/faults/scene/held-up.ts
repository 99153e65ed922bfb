/** Statements of the service that do not come to an end, and how the server sees them. */
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { connectTo } from '../../../../testkit/servers/postgres.ts';

/** How many statements of the service wait for a lock on the server. */
export async function statementsOf(observer: pg.Client): Promise<number> {
  const { rows } = await observer.query(`
    select count(*)::integer as running from pg_stat_activity
    where application_name like 'partner-network%' and wait_event_type = 'Lock'`);
  return rows[0].running;
}

/**
 * Locks a table and resolves when as many statements of the service wait for it; what it resolves to lets
 * them go on.
 */
export async function holdUp(
  t: TestContext,
  url: string,
  table: string,
  statements = 1,
): Promise<() => Promise<void>> {
  const locker = await connectTo(t, url);
  // In a transaction, what is seen of others does not change.
  const observer = await connectTo(t, url);
  await locker.query(`begin; lock table ${table} in access exclusive mode`);
  while ((await statementsOf(observer)) < statements) await wait(5);
  return async () => {
    await locker.query('rollback');
  };
}
