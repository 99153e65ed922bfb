import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertUnavailable } from '../../../testkit/fixtures/http.ts';
import type { ServedSandbox } from '../../../testkit/fixtures/served.ts';
import { promote, startPostgres } from '../../../testkit/servers/postgres.ts';
import { follow, hangUpOnService, rename, startPair, urlOf } from './scene/pair.ts';
import { fill, loadOn, rareFaultTest, resumeMs, serveOn } from './scene/under-load.ts';

/** The name of the first brand, which shows the server that answered; undefined after a 503. */
async function firstName({ brands }: ServedSandbox): Promise<string | undefined> {
  const answer = await brands('?limit=1', { key: keys.acme });
  if (answer.status === 200) return JSON.parse(answer.text).brands[0].name;
  assertUnavailable(answer);
  return undefined;
}

rareFaultTest('a fail-over without any requests is complete when the next request comes', async (t) => {
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

rareFaultTest('servers change places and change back, and the primary is always found', async (t) => {
  const { primary, standby } = await startPair(t);
  // The standby comes first: the order of addresses does not matter.
  const load = await loadOn(t, urlOf(standby, primary));
  await primary.stop();
  await promote(standby);
  await load.resumes();
  await follow(primary, standby);
  await load.resumes();
  await standby.stop();
  await promote(primary);
  await load.recovers();
});

rareFaultTest('a primary that was replaced while it was frozen is never used again', async (t) => {
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

rareFaultTest('among several addresses, a server of another environment is passed over', async (t) => {
  const { primary, standby } = await startPair(t);
  const other = await startPostgres(t);
  await fill(other.url(), 'production');
  const load = await loadOn(t, urlOf(primary, other, standby));
  await primary.kill();
  await load.fails();
  await promote(standby);
  await load.recovers();
});
