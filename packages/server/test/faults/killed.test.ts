import { test } from 'node:test';
import { startPostgres, withoutOwnServers } from '../support/postgres.ts';
import { holdUp } from './held-up.ts';
import { fill, serveOn, startLoad } from './under-load.ts';

const skip = withoutOwnServers();
const timeout = 60_000;

test('a database that is killed in mid-request is a 503 until it is back', { skip, timeout }, async (t) => {
  const server = await startPostgres(t);
  await fill(server.url());
  const load = await startLoad(t, await serveOn(t, server.url()));
  await holdUp(t, server.url(), 'brands');
  await server.kill();
  await load.next(({ isRight }) => !isRight);
  await server.start();
  await load.resumes(performance.now());
  await load.stop();
});
