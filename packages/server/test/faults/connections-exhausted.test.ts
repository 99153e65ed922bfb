import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertUnavailable } from '../../../testkit/fixtures/http.ts';
import { connectTo, startPostgres, withoutOwnServers } from '../../../testkit/servers/postgres.ts';
import { fill, serveOn, startLoad } from './scene/under-load.ts';

const skip = withoutOwnServers();
const timeout = 60_000;

const ofService = `where application_name like 'partner-network serve %'`;

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

  // Whoever hangs up on the service may find it back before all is taken.
  const others: pg.Client[] = [];
  do {
    others.push(...(await takeAll(t, server.url())));
    await others[0]!.query(`select pg_terminate_backend(pid) from pg_stat_activity ${ofService}`);
    others.push(...(await takeAll(t, server.url())));
  } while ((await others[0]!.query(`select from pg_stat_activity ${ofService}`)).rows.length > 0);
  const takenMs = performance.now();
  for (let times = 0; times < 5; times += 1) {
    assertUnavailable(await served.caller.brands('', { key: keys.acme }));
  }
  await load.next(({ sentMs }) => sentMs > takenMs);
  const freedMs = performance.now();
  for (const other of others) await other.end();
  await load.resumes(freedMs);
  const during = (await load.stop()).filter(({ sentMs, endedMs }) => sentMs > takenMs && endedMs < freedMs);
  assert.ok(during.length > 0 && during.every(({ isRight }) => !isRight));
});
