/** A key is revoked although another command rotates it, in any order of the two. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { byTest, createdAt } from '../../testkit/fixtures/fixture.ts';
import { until } from '../../testkit/fixtures/lifetime.ts';
import { start, withPartners } from '../../testkit/fixtures/run.ts';
import { connectTo } from '../../testkit/servers/postgres.ts';
import { migratedDatabase } from '../../testkit/service/database.ts';
import { parseDatabaseUrl } from '../src/address.ts';
import { openStore } from '../src/engines.ts';
import type { Store } from '../src/port.ts';

const key = { id: 'old', partner_id: 'acme', last_four: 'abcd', created_at: createdAt };
const digest = (fill: number) => new Uint8Array(32).fill(fill);

function rotate(store: Store, fill: number, overlapMs: number) {
  const issued = { id: `new${fill}`, last_four: 'wxyz', digest: digest(fill) };
  return store.rotateKey('old', { ...issued, overlapMs }, byTest);
}

test('Postgres: rotations and a revocation that wait for the same row', async (t) => {
  const url = await migratedDatabase(t);
  const address = parseDatabaseUrl(url)!;
  const stores = await Promise.all([0, 1, 2].map(() => openStore(address, 'sandbox')));
  t.after(() => Promise.all(stores.map((store) => store.close())));
  const [first, second, third] = stores as [Store, Store, Store];
  await first.createPartner({ id: 'acme', name: 'A', created_at: createdAt }, byTest);
  await first.createKey({ ...key, scopes: ['BRANDS_READ'] }, digest(1), byTest);
  const [locker, observer] = [await connectTo(t, url), await connectTo(t, url)];
  await locker.query(`begin; select 1 from api_keys where id = 'old' for update`);
  const waiting = Promise.all([
    rotate(first, 2, 86_400_000),
    rotate(second, 3, 0),
    third.revokeKey('old', new Date().toISOString(), byTest),
  ]);
  const sessions = `
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(20_000, async () => (await observer.query(sessions)).rowCount === 3);
  await locker.query('commit');
  const [slow, now, revoked] = await waiting;
  assert.notEqual((await first.findKeyById('old'))?.revoked_at, undefined);
  assert.equal(now === undefined, revoked, 'only one of them has revoked it');
  // Each issued key has an entry, and a rotation that came too late has issued none.
  const issued = (await first.listKeys('acme')).length - 1;
  assert.equal(issued, [slow, now].filter((rotation) => rotation !== undefined).length);
  const entries = await first.listAudit({ target: 'old', limit: 9 });
  assert.equal(entries.length, 1 + issued + (revoked ? 1 : 0));
});

test('the embedded database: commands that wait for the lock of an import', async (t) => {
  const line = await withPartners(t, ['acme']);
  await line.inside((store) => store.createKey({ ...key, scopes: ['BRANDS_READ'] }, digest(1), byTest));
  const locker = new DatabaseSync(line.databasePath);
  t.after(() => locker.close());
  locker.exec('begin immediate');
  const commands = [
    ['keys', 'rotate', 'old', '--overlap', '0s'],
    ['keys', 'rotate', 'old'],
    ['keys', 'revoke', 'old'],
  ].map((words) => start(t, [...words, '--database', line.database]));
  for (const command of [commands[0]!, commands[2]!]) await command.says('stderr', / not revoked yet /);
  locker.exec('rollback');
  const [now, slow, revoked] = await Promise.all(commands.map(({ ended }) => ended));
  assert.equal(revoked, 0);
  const keys = await line.json<{ id: string; status: string }[]>('keys', 'list');
  assert.equal(keys.find(({ id }) => id === 'old')?.status, 'revoked');
  assert.equal(keys.length - 1, [now, slow].filter((status) => status === 0).length);
});
