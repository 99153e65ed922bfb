import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { connectTo, startPostgres, withoutOwnServers } from '../../../testkit/servers/postgres.ts';
import { areAllTried } from './scene/all-faults.ts';
import { fill, serveOn, startLoad } from './scene/under-load.ts';

const skip = withoutOwnServers();
const timeout = 60_000;
const rounds = areAllTried ? 60 : 15;

test('backends that are terminated again and again cost nobody more than a 503', {
  skip,
  timeout,
}, async (t) => {
  const server = await startPostgres(t);
  await fill(server.url());
  const load = await startLoad(t, await serveOn(t, server.url()));
  const killer = await connectTo(t, server.url());
  for (let round = 0; round < rounds; round += 1) {
    await killer.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null',
    );
    await wait(50);
  }
  await load.resumes(performance.now());
  await load.stop();
});
