import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertUnavailable } from '../../../testkit/fixtures/http.ts';
import {
  type PostgresServer,
  promote,
  startPostgres,
  withoutOwnServers,
} from '../../../testkit/servers/postgres.ts';
import { amongAllOnly } from './scene/all-faults.ts';
import { follow, hangUpOnService, rename, startPair, urlOf } from './scene/pair.ts';
import { fill, resumeMs, type Served, serveOn, startLoad } from './scene/under-load.ts';

const skip = withoutOwnServers();
const timeout = 60_000;

/** The name of the first brand, which tells whose answer it is; none when the service is unavailable. */
async function firstName({ caller }: Served): Promise<string | undefined> {
  const answer = await caller.brands('?limit=1', { key: keys.acme });
  if (answer.status === 200) return JSON.parse(answer.text).brands[0].name;
  assertUnavailable(answer);
  return undefined;
}

for (const [promise, end, notNow] of [
  ['a primary that is killed', (primary: PostgresServer) => primary.kill(), amongAllOnly],
  ['a primary that freezes', (primary: PostgresServer) => primary.freeze(), false],
] as const) {
  test(`${promise} is followed by the standby that is promoted`, {
    skip: skip || notNow,
    timeout,
  }, async (t) => {
    const { primary, standby } = await startPair(t);
    const load = await startLoad(t, await serveOn(t, urlOf(primary, standby)));
    await end(primary);
    await load.next(({ isRight }) => !isRight);
    await promote(standby);
    await load.resumes(performance.now());
    await load.stop();
  });
}

test('a primary that freezes and is replaced at once holds nobody up for longer than a second', {
  skip: skip || amongAllOnly,
  timeout,
}, async (t) => {
  const { primary, standby } = await startPair(t);
  const load = await startLoad(t, await serveOn(t, urlOf(primary, standby)));
  primary.freeze();
  await promote(standby);
  await load.resumes(performance.now());
  await load.stop();
});

test('a fail over that happened while nobody asked is over when somebody does', {
  skip: skip || amongAllOnly,
  timeout,
}, async (t) => {
  const { primary, standby } = await startPair(t);
  const served = await serveOn(t, urlOf(primary, standby));
  const ask = () => firstName(served);
  await Promise.all(Array.from({ length: 10 }, ask));
  primary.freeze();
  await promote(standby);
  await rename(t, standby, 'promoted');
  await wait(1_000);
  const sentMs = performance.now();
  const names = await Promise.all(Array.from({ length: 10 }, ask));
  assert.deepEqual(new Set(names), new Set(['promoted']));
  t.diagnostic(`answered after ${Math.round(performance.now() - sentMs)} ms`);
});

test('servers change places and change back, and each is found where it is', {
  skip: skip || amongAllOnly,
  timeout,
}, async (t) => {
  const { primary, standby } = await startPair(t);
  // The standby comes first: it is not its place that makes a primary.
  const load = await startLoad(t, await serveOn(t, urlOf(standby, primary)));
  await primary.stop();
  await promote(standby);
  await load.resumes(performance.now());
  await follow(primary, standby);
  await load.resumes(performance.now());
  await standby.stop();
  await promote(primary);
  await load.resumes(performance.now());
  await load.stop();
});

test('a primary that was replaced while it was frozen is never asked again', {
  skip: skip || amongAllOnly,
  timeout,
}, async (t) => {
  const { primary, standby } = await startPair(t);
  const served = await serveOn(t, urlOf(primary, standby));
  await Promise.all(Array.from({ length: 10 }, () => firstName(served)));
  primary.freeze();
  await promote(standby);
  await rename(t, standby, 'promoted');
  while ((await firstName(served)) !== 'promoted');
  primary.thaw();
  for (let times = 0; times < 10; times += 1) {
    await hangUpOnService(t, standby);
    await hangUpOnService(t, primary);
    const names = await Promise.all(Array.from({ length: 10 }, () => firstName(served)));
    for (const name of names) assert.ok(name === 'promoted' || name === undefined, name);
  }
  await standby.kill();
  const untilMs = performance.now() + 1_000;
  while (performance.now() < untilMs) assert.equal(await firstName(served), undefined);
  await standby.start();
  const backMs = performance.now();
  while ((await firstName(served)) !== 'promoted');
  assert.ok(performance.now() - backMs < resumeMs);
});

test('among several addresses, one that leads to another environment is passed over', {
  skip: skip || amongAllOnly,
  timeout,
}, async (t) => {
  const { primary, standby } = await startPair(t);
  const other = await startPostgres(t);
  await fill(other.url(), 'production');
  const load = await startLoad(t, await serveOn(t, urlOf(primary, other, standby)));
  await primary.kill();
  await load.next(({ isRight }) => !isRight);
  await promote(standby);
  await load.resumes(performance.now());
  await load.stop();
});
