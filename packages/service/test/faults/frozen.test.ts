import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertUnavailable } from '../../../testkit/fixtures/http.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { metricOf } from '../../../testkit/fixtures/served.ts';
import { rareFaultTest, serveOn, startFilled, startLoad } from './scene/under-load.ts';

const freezeMs = 30_000;

/** Memory and open files of a process, on Linux only. */
function resourcesOf(pid: number): { megabytes: number; files: number } | undefined {
  if (process.platform !== 'linux') return undefined;
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return {
    megabytes: Math.round(Number(kilobytes) / 1_024),
    files: readdirSync(`/proc/${pid}/fd`).length,
  };
}

rareFaultTest(
  `a database that is frozen for ${freezeMs / 1_000} s is a 503 until it is thawed`,
  async (t) => {
    const server = await startFilled(t);
    const served = await serveOn(t, server.url());
    const load = await startLoad(t, served);

    server.freeze();
    const frozenMs = performance.now();
    await load.next(({ sentMs, isRight }) => sentMs > frozenMs && !isRight);
    const before = resourcesOf(served.pid);
    await until(20_000, async () => (await fetch(`${served.operationsUrl}/readyz`)).status === 503);
    await wait(freezeMs - (performance.now() - frozenMs));
    const after = resourcesOf(served.pid);
    const thawedMs = performance.now();
    server.thaw();
    await load.resumes(thawedMs);
    const judged = await load.stop();
    t.diagnostic(JSON.stringify({ before, after }));

    const during = judged.filter(({ sentMs, endedMs }) => sentMs > frozenMs && endedMs < thawedMs);
    assert.ok(during.length > 100 && during.every(({ isRight }) => !isRight));
    if (before !== undefined && after !== undefined) {
      assert.ok(after.files < before.files + 10 && after.megabytes < before.megabytes + 50);
    }
  },
);

rareFaultTest('with a frozen database, waiting clients are answered and the service ends', async (t) => {
  const server = await startFilled(t);
  const served = await serveOn(t, server.url());
  const ask = () => served.brands('', { key: keys.acme });
  // Some connections are idle at the end. The frozen server does not close them.
  await Promise.all(Array.from({ length: 10 }, ask));
  server.freeze();
  const waiting = Array.from({ length: 5 }, ask);
  const busy = ['partner_network_database_connections', 'state="busy"'] as const;
  while ((await metricOf(served.operationsUrl, ...busy)) < 5);
  const signaledMs = performance.now();
  served.signal('SIGTERM');
  for (const answer of await Promise.all(waiting)) assertUnavailable(answer);
  assert.equal(await served.ended, 0);
  assert.ok(performance.now() - signaledMs < 5_000);
  t.diagnostic(`ended after ${Math.round(performance.now() - signaledMs)} ms`);
});
