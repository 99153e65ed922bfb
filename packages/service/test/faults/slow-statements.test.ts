import assert from 'node:assert/strict';
import { httpBounds, overloadBounds } from '../../../common/src/bounds/http.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertUnavailable } from '../../../testkit/fixtures/http.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { requestsShed } from '../../../testkit/fixtures/served.ts';
import { holdUp, rareFaultTest, serveOn, startFilled, startLoad } from './scene/under-load.ts';

rareFaultTest('slow statements of a partner take at most half of the connections', async (t) => {
  const server = await startFilled(t);
  const served = await serveOn(t, server.url(), '--connections', '4');
  const load = await startLoad(t, served);
  const release = await holdUp(t, server.url(), 'balances', 2);
  const shedBefore = await requestsShed(served.operationsUrl, 'partner');
  const sentMs = performance.now();
  assertUnavailable(await served.brands('', { key: keys.acme }));
  const tookMs = performance.now() - sentMs;
  // On a busy machine it may be shed for that reason.
  assert.ok(
    tookMs > overloadBounds.requestWaitMs && tookMs < httpBounds.answerMs,
    `refused after ${tookMs} ms`,
  );
  assert.ok((await requestsShed(served.operationsUrl, 'partner')) > shedBefore);
  await until(20_000, async () => {
    const answer = await served.brands('', { key: keys.zenith });
    if (answer.status !== 200) assertUnavailable(answer);
    return answer.status === 200;
  });
  await release();
  await load.recovers();
});
