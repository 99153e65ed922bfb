import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { assertFailed, run } from '../../../testkit/fixtures/run.ts';
import { connectTo, startPostgres, withoutOwnServers } from '../../../testkit/servers/postgres.ts';
import { amongAllOnly } from './scene/all-faults.ts';
import { holdUp, statementsOf } from './scene/held-up.ts';
import { fill, serveOn, startLoad } from './scene/under-load.ts';

const skip = withoutOwnServers();
const timeout = 60_000;

for (const [workers, notNow] of [
  ['1', amongAllOnly],
  ['2', false],
] as const) {
  test(`a database that is killed in mid-request is a 503 until it is back (workers: ${workers})`, {
    skip: skip || notNow,
    timeout,
  }, async (t) => {
    const server = await startPostgres(t);
    await fill(server.url());
    const load = await startLoad(t, await serveOn(t, server.url(), '--workers', workers));
    await holdUp(t, server.url(), 'brands');
    await server.kill();
    await load.next(({ isRight }) => !isRight);
    await server.start();
    await load.resumes(performance.now());
    await load.stop();
  });
}

test('an import whose database is killed fails in a sentence, and nothing of it remains', {
  skip,
  timeout,
}, async (t) => {
  const server = await startPostgres(t);
  await fill(server.url());
  await holdUp(t, server.url(), 'brands', 0);
  const words = ['import', 'brands', '-', '--partner', 'acme', '--environment', 'sandbox'];
  const input = '{"id":"imported","name":"Imported","reference_id":"imported"}\n';
  const importing = run([...words, '--database', server.url()], { input });
  const observer = await connectTo(t, server.url());
  while ((await statementsOf(observer)) === 0) await wait(5);
  await server.kill();
  assertFailed(await importing, 1, /^The database cannot be reached \([^\n]+\)\.\n$/);
  await server.start();
  const client = await connectTo(t, server.url());
  assert.deepEqual((await client.query(`select id from brands where id = 'imported'`)).rows, []);
});
