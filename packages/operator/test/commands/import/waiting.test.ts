/** Imports that wait for other commands, and imports that a signal ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byTest } from '../../../../testkit/fixtures/fixture.ts';
import { until } from '../../../../testkit/fixtures/lifetime.ts';
import { balance, engines, openLine } from './engines.ts';

const untimed = { ...balance('u', 1), updated_at: undefined, created_at: undefined };

for (const engine of engines) {
  test(`an import that waits for another command says so, and continues, on ${engine}`, async (t) => {
    const line = await openLine(t, engine);
    const rows = Array.from({ length: 600 }, (_, index) => balance(`b${index}`, 1));
    const other = await line.store.beginImport('balances', { pace: 'fast', deletesMissing: true });
    t.after(() => other.end());
    await other.stage([{ ...balance('x', 1), is_timed: 1 }]);
    const locked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const refused = { ...untimed, updated_at: '2999-01-01T00:00:00.000Z', is_timed: 0, line: 2 };
    await line.store.eraseCustomer('nobody', byTest);
    await line.execute(`insert into erased_customers values ('alice', '2026-01-01T00:00:00.000Z')`);
    await other.stage([refused]);
    // Holds the lock while it reports a rejected line.
    const writing = other.write({
      mode: 'keep',
      skipsRejected: true,
      onRejected: async () => {
        locked.resolve();
        await released.promise;
      },
    });
    await locked.promise;
    const file = line.write('given.jsonl', [
      ...rows,
      { customer_id: 'zoe', id: 'z', deleted_at: rows[0]!.updated_at },
    ]);
    const waiting = line.start(['import', 'balances', file]);
    const said =
      engine === 'postgres' ? /an import of balances \(pid \d+\)/ : /another command, such as an import/;
    await waiting.says('stderr', said);
    released.resolve();
    await writing;
    assert.equal(await waiting.ended, 0, waiting.texts().stderr);
    assert.match(waiting.texts().stdout, /^601 read, 600 written/);
  });

  test(`a signal ends an import that waits, and releases its locks, on ${engine}`, async (t) => {
    const line = await openLine(t, engine);
    const hold = await line.store.beginImport('balances', { pace: 'fast' });
    await hold.stage([{ ...balance('x', 1), is_timed: 1 }]);
    await hold.countMissing();
    const file = line.write('given.jsonl', [
      { customer_id: 'zoe', id: 'z', deleted_at: '2026-01-01T00:00:00Z' },
    ]);
    const waiting = line.start(['import', 'balances', file]);
    await waiting.says('stderr', /^Waiting for /m);
    waiting.signal('SIGTERM');
    assert.equal(await waiting.ended, null);
    assert.match(waiting.texts().stderr, /\nInterrupted: nothing was written\.\n$/);
    if (engine === 'postgres') {
      const left = `select from pg_stat_activity
        where application_name = 'partner-network: an import of balances'
        and datname = current_database() and wait_event_type = 'Lock'`;
      await until(20_000, async () => (await line.execute(left)) === 0);
    }
    await hold.end();
    assert.equal((await line.imported('balances', file)).unchanged, 1);
  });
}

test('a signal cancels the statement that runs on the server', async (t) => {
  const line = await openLine(t, 'postgres');
  await line.execute(`
    create function slow() returns trigger language plpgsql as $$
    begin perform pg_sleep(600); return new; end $$`);
  await line.execute('create trigger slow before insert on balances for each row execute function slow()');
  const running = `select from pg_stat_activity where application_name like 'partner-network: an import%'
    and datname = current_database() and wait_event = 'PgSleep'`;
  const importing = line.start(['import', 'balances', line.write('given.jsonl', [balance('a', 1)])]);
  await until(20_000, async () => (await line.execute(running)) === 1);
  importing.signal('SIGINT');
  assert.equal(await importing.ended, null);
  assert.equal(importing.texts().stderr, 'Interrupted: nothing was written.\n');
  await until(20_000, async () => (await line.execute(running)) === 0);
});
