import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertUnavailable } from '../../../testkit/fixtures/http.ts';
import { requestsShed } from '../../../testkit/fixtures/requests-shed.ts';
import { until } from '../../../testkit/fixtures/until.ts';
import { connectTo, startPostgres, withoutOwnServers } from '../../../testkit/servers/postgres.ts';
import { httpBounds } from '../../src/bounds/http.ts';
import { overloadBounds } from '../../src/bounds/overload.ts';
import { holdUp, statementsOf } from './scene/held-up.ts';
import { fill, serveOn, startLoad } from './scene/under-load.ts';

const skip = withoutOwnServers();
const timeout = 60_000;

test('a statement that takes longer than 2 s is canceled on the server, too', {
  skip,
  timeout,
}, async (t) => {
  const server = await startPostgres(t);
  await fill(server.url());
  const { caller } = await serveOn(t, server.url());
  const answer = caller.brands('', { key: keys.acme });
  const observer = await connectTo(t, server.url());
  await holdUp(t, server.url(), 'brands', 0);
  const answers = Array.from({ length: 30 }, () => caller.brands('', { key: keys.acme }));
  const sentMs = performance.now();
  await answer;
  for (const refused of await Promise.all(answers)) assertUnavailable(refused);
  while ((await statementsOf(observer)) > 0) await wait(5);
  const leftMs = performance.now() - sentMs;
  assert.ok(leftMs > 1_900 && leftMs < 5_000, `the last statement ended after ${leftMs} ms`);
});

test('slow statements of one partner hold half of the connections: its others are refused after 250 ms', {
  skip,
  timeout,
}, async (t) => {
  const server = await startPostgres(t);
  await fill(server.url());
  const served = await serveOn(t, server.url(), '--connections', '4');
  const load = await startLoad(t, served);
  const release = await holdUp(t, server.url(), 'balances', 2);
  const shedBefore = await requestsShed(served.operationsUrl, 'partner');
  const sentMs = performance.now();
  assertUnavailable(await served.caller.brands('', { key: keys.acme }));
  const tookMs = performance.now() - sentMs;
  // On a machine that is too busy it may be turned away for that.
  assert.ok(
    tookMs > overloadBounds.requestWaitMs && tookMs < httpBounds.answerMs,
    `refused after ${tookMs} ms`,
  );
  assert.ok((await requestsShed(served.operationsUrl, 'partner')) > shedBefore);
  await until(5_000, async () => {
    const answer = await served.caller.brands('', { key: keys.zenith });
    if (answer.status !== 200) assertUnavailable(answer);
    return answer.status === 200;
  });
  await release();
  await load.resumes(performance.now());
  await load.stop();
});
