import { test } from 'node:test';
import { startPostgres, withoutOwnServers } from '../../../testkit/servers/postgres.ts';
import { amongAllOnly } from './scene/all-faults.ts';
import { fill, serveOn, startLoad } from './scene/under-load.ts';

const skip = withoutOwnServers();
const timeout = 60_000;

// One that is killed and started, which `npm test` tries, is the harder case.
for (const how of ['fast', 'immediate'] as const) {
  test(`a database that is restarted (${how}) is a 503 until it is back`, {
    skip: skip || amongAllOnly,
    timeout,
  }, async (t) => {
    const server = await startPostgres(t);
    await fill(server.url());
    const load = await startLoad(t, await serveOn(t, server.url()));
    await server.stop(how);
    await load.next(({ isRight }) => !isRight);
    await server.start();
    await load.resumes(performance.now());
    await load.stop();
  });
}
