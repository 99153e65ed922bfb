import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { connectTo, startPostgres, withoutOwnServers } from '../support/postgres.ts';
import { fill, serveOn, startLoad } from './under-load.ts';

const skip = withoutOwnServers();
const timeout = 60_000;

/** Takes the connections that a server has left. */
async function takeAll(t: Parameters<typeof connectTo>[0], url: string): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  try {
    while (true) taken.push(await connectTo(t, url));
  } catch (error) {
    assert.equal((error as { code?: string }).code, '53300');
    return taken;
  }
}

test('a server without a connection to spare is a 503 until it has one', { skip, timeout }, async (t) => {
  const server = await startPostgres(t, { max_connections: '12', superuser_reserved_connections: '0' });
  await fill(server.url());
  const served = await serveOn(t, server.url());
  const load = await startLoad(t, served);
  await load.next(({ isRight }) => isRight);

  const others = await takeAll(t, server.url());
  await others[0]!.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'partner-network'`,
  );
  others.push(...(await takeAll(t, server.url())));
  await load.next(({ isRight }) => !isRight);
  for (const other of others) await other.end();
  await load.resumes(performance.now());
  await load.stop();
});
