import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres, withoutOwnServers } from '../../../testkit/servers/postgres.ts';
import { amongAllOnly } from './scene/all-faults.ts';
import { startNetwork } from './scene/network.ts';
import { hangUpOnService } from './scene/pair.ts';
import { fill, serveOn, startLoad } from './scene/under-load.ts';

const skip = withoutOwnServers();
const timeout = 60_000;
const silenceMs = 3_000;

for (const [ending, how, notNow] of [
  ['goOn', 'goes on', amongAllOnly],
  ['forget', 'has forgotten all connections', amongAllOnly],
  ['hangUp', 'hangs up', false],
] as const) {
  test(`a network that falls silent and then ${how} is a 503 until then`, {
    skip: skip || notNow,
    timeout,
  }, async (t) => {
    const server = await startPostgres(t);
    await fill(server.url());
    const network = await startNetwork(t, server);
    const load = await startLoad(t, await serveOn(t, network.url));
    network.fallSilent();
    await load.next(({ isRight }) => !isRight);
    await wait(silenceMs);
    network[ending]();
    await load.resumes(performance.now());
    await load.stop();
  });
}

test('connections that fall silent as soon as they are made do not use up those that may be made', {
  skip: skip || amongAllOnly,
  timeout,
}, async (t) => {
  const server = await startPostgres(t);
  await fill(server.url());
  const network = await startNetwork(t, server);
  const load = await startLoad(t, await serveOn(t, network.url, '--connections', '4'));
  network.greetOnly();
  // Of five, the first is the one that watches, and stays.
  await hangUpOnService(t, server, 4);
  await load.next(({ isRight }) => !isRight);
  await wait(silenceMs);
  network.forget();
  await load.resumes(performance.now());
  await load.stop();
});
